#!/usr/bin/python3
"""Replays a schedule that `xorder schedule .. --messages FILE` wrote, and checks it without any of xorder's code.

    xorder schedule exchange --dimension 3 --messages m.jsonl && tests/cli/replay.py m.jsonl hypercube

It prints where everything is in the end. Each line of the file is a message, {"step", "from", "to", "path"}, or an
update, {"step", "update", "plus", "minus", "b"}; a place is [node, slot]. All messages of a step are read before any is
written, and then all of its updates.
"""

import itertools
import json
import sys


def neighbours(network, a, b, side=None):
    """Whether there is a link from node a to node b."""
    if network == "crossbar":
        return a != b
    if network == "hypercube":
        return (a ^ b).bit_count() == 1
    apart = [abs(a // side - b // side), abs(a % side - b % side)]
    if network == "torus":
        apart = [min(d, side - d) for d in apart]
    return sum(apart) == 1


def replay(lines, network, side=None, first=lambda place: place, f=lambda *operands: operands):
    """Returns {place: its content} of all places that were written to, and what messages read in each step. A
    place's first content is first(place), by default its name, and an update makes f(b, x, plus, minus) of x.
    Raises ValueError at the first line that breaks a rule."""
    content, reads = {}, []

    def read(place):
        return content.get(tuple(place), first(tuple(place)))

    parsed = (json.loads(line) for line in lines)
    for step, group in itertools.groupby(parsed, lambda m: m["step"]):
        group = list(group)
        updates = [line for line in group if "update" in line]
        links, senders, receivers, written = set(), set(), set(), {}
        for m in (line for line in group if "update" not in line):
            source, target, path = tuple(m["from"]), tuple(m["to"]), m["path"]
            if path[0] != source[0] or path[-1] != target[0]:
                raise ValueError(f"step {step}: the path {path} does not connect {source} and {target}")
            for link in zip(path, path[1:]):
                if not neighbours(network, *link, side):
                    raise ValueError(f"step {step}: there is no link {link}")
                if link in links:
                    raise ValueError(f"step {step}: two messages on the link {link}")
                links.add(link)
            if network == "crossbar" and len(path) > 1:
                if path[0] in senders or path[-1] in receivers:
                    raise ValueError(f"step {step}: a node sends or receives twice: {path}")
                senders.add(path[0])
                receivers.add(path[-1])
            if target in written:
                raise ValueError(f"step {step}: two messages into {target}")
            written[target] = read(source)
        content.update(written)
        reads.append((step, written))
        computed = {}
        for u in updates:
            target = tuple(u["update"])
            if target in computed or any(place[0] != target[0] for place in (u["plus"], u["minus"])):
                raise ValueError(f"step {step}: {target} is updated twice, or from another node")
            computed[target] = f(u["b"], read(target), read(u["plus"]), read(u["minus"]))
        content.update(computed)
    return content, reads


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as file:
        final, _ = replay(file, sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
    for place, origin in sorted(final.items()):
        what = f"what was in slot {origin[1]} of node {origin[0]}" if len(origin) == 2 else f"a result of f_{origin[0]}"
        print(f"slot {place[1]} of node {place[0]} has {what}")
