#!/usr/bin/python3
"""Replays a schedule that `xorder schedule .. --messages FILE` wrote, and checks it without any of xorder's code.

    xorder schedule exchange --dimension 3 --messages m.jsonl && tests/cli/replay.py m.jsonl hypercube

It prints where everything is in the end. Each line of the file is {"step", "from", "to", "path"}; a place is
[node, slot]. All messages of a step are read before any is written.
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


def replay(lines, network, side=None):
    """Returns {place: the place where its content was at first} of all places that a message wrote to, and what
    was read in each step. Raises ValueError at the first message that breaks a rule."""
    content, reads = {}, []
    messages = (json.loads(line) for line in lines)
    for step, group in itertools.groupby(messages, lambda m: m["step"]):
        links, senders, receivers, written = set(), set(), set(), {}
        for m in group:
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
            written[target] = content.get(source, source)
        content.update(written)
        reads.append((step, written))
    return content, reads


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as file:
        final, _ = replay(file, sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
    for place, origin in sorted(final.items()):
        print(f"slot {place[1]} of node {place[0]} has what was in slot {origin[1]} of node {origin[0]}")
