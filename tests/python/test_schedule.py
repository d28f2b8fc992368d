"""Schedules: the messages bring everything to its goal, and are those that the program writes."""
import json
import os
import subprocess

import numpy as np
import pytest
import xorder


def carried(schedule, slots):
    """What lies in each slot of each node after all messages; before, its own number."""
    place = np.arange(schedule.nodes * slots).reshape(schedule.nodes, slots)
    for step in schedule:
        place[step["to_node"], step["to_slot"]] = place[step["from_node"], step["from_slot"]]
    return place


def test_tasks():
    for d in range(6):
        s = xorder.schedule("transpose", f"hypercube:{d}")
        assert np.array_equal(carried(s, 1 << d), np.arange(1 << 2 * d).reshape(1 << d, -1).T)
        assert s.steps == s.lower_bound == (1 << d) // 2 and s.check()["correct"] and len(s.messages) == s.details["messages"]
        s = xorder.schedule("bitreverse", f"hypercube:{d}")
        words = np.arange(1 << 2 * d)
        assert np.array_equal(carried(s, 1 << d).reshape(-1), xorder.bitreverse(words)) and s.check()["correct"]
    for network in ["mesh:5", "torus:6"]:
        s = xorder.schedule("transpose", network)
        n = int(network[-1])
        assert np.array_equal(carried(s, s.slots)[:, 0].reshape(n, n), np.arange(n * n).reshape(n, n).T * s.slots)
        assert s.check()["correct"] and (s.messages["links"] >= 1).all()
    messages = xorder.schedule("transpose", "mesh:3").messages
    assert messages.dtype.names == ("step", "from_node", "from_slot", "to_node", "to_slot", "via", "links")


def test_packets(rng):
    targets = rng.permutation(32)
    packets = [(node, 0, int(target), 0) for node, target in enumerate(targets) if node != target]
    s = xorder.schedule(packets, "hypercube:5")
    assert s.check()["correct"] and s.steps >= s.lower_bound
    place = carried(s, s.slots)
    assert all(place[target, 0] == node * s.slots for node, _, target, _ in packets)


def test_own_messages():
    lines = [{"step": 0, "from": [0, 0], "to": [1, 0]}, {"step": 0, "from": [1, 0], "to": [0, 0]},
             {"step": 1, "from": [0, 0], "to": [0, 1]}]
    s = xorder.schedule(None, "hypercube:1", lines)
    assert (s.steps, s.slots) == (2, 2) and s.step(1)["links"].tolist() == [0] and [p.tolist() for p in s.paths(1)] == [[0]]
    assert s.check()["conflicts"] == 0
    wrong = xorder.schedule(None, "mesh:2", [{"step": 0, "from": [0, 0], "to": [1, 0]}, {"step": 0, "from": [0, 1], "to": [1, 1]}])
    report = wrong.check()
    assert not report["correct"] and report["conflicts"] == 1 and "step 0" in report["faults"]["first"]
    missing = xorder.schedule("transpose", "hypercube:1", []).check()
    assert not missing["complete"] and missing["faults"]["misplaced"] == 2


@pytest.mark.skipif("XORDER" not in os.environ, reason="XORDER names no program")
@pytest.mark.parametrize("kind, size", [("mesh", 7), ("torus", 6)])  # some paths of this torus turn more than once
def test_with_the_program(kind, size):
    subprocess.run([os.environ["XORDER"], "schedule", "mesh", *["--torus"][kind == "mesh":], "--size", str(size), "--messages", "m.jsonl"],
                   check=True)
    network = f"{kind}:{size}"
    s = xorder.schedule("transpose", network, "m.jsonl")
    assert s.check()["correct"]
    written = [json.loads(line) for line in open("m.jsonl", encoding="utf-8")]
    made = xorder.schedule("transpose", network)
    mine = made.messages
    assert [m["path"] for m in written] == [path.tolist() for step in range(made.steps) for path in made.paths(step)]
    assert [(m["step"], *m["from"], *m["to"]) for m in written] == mine[["step", "from_node", "from_slot", "to_node", "to_slot"]].tolist()
    assert [len(m["path"]) - 1 for m in written] == mine["links"].tolist()


def test_errors():
    for call, kind, says in [(lambda: xorder.schedule("transpose", "ring:5"), ValueError, "network is 'ring:5'"),
                             (lambda: xorder.schedule("transpose", "mesh:-1"), ValueError, "network is"),
                             (lambda: xorder.schedule("transpose", "hypercube:21"), ValueError, "from 0 to 20"),
                             (lambda: xorder.schedule("transpose", "crossbar:3"), ValueError, "power of two"),
                             (lambda: xorder.schedule("transpose", "crossbar:4"), ValueError, "others can be read"),
                             (lambda: xorder.schedule("shuffle", "mesh:4"), ValueError, "task is 'shuffle'"),
                             (lambda: xorder.schedule(None, "mesh:4"), TypeError, "needs messages"),
                             (lambda: xorder.schedule([(0, 0, 1)], "hypercube:2"), ValueError, "four numbers"),
                             (lambda: xorder.schedule([(0, 0, 9, 0)], "hypercube:2"), ValueError, ""),
                             (lambda: xorder.schedule([(0, 0, 1, 0)], "mesh:2"), ValueError, "for a hypercube"),
                             (lambda: xorder.schedule(None, "mesh:2", [{"step": 0}]), ValueError, "messages"),
                             (lambda: xorder.schedule(None, "mesh:2", "nowhere"), FileNotFoundError, "nowhere"),
                             (lambda: xorder.schedule("transpose", "mesh:2").step(9), IndexError, "step 9")]:
        with pytest.raises(kind, match=says):
            call()
