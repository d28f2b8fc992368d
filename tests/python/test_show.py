"""Maps and benchmarks as numbers and as pictures."""
import json
import os
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
import xorder


def rank(matrix):
    """Over GF(2), by elimination."""
    rows, found = [int("0" + "".join(map(str, row)), 2) for row in matrix], 0
    while rows:
        if row := rows.pop():
            found += 1
            rows = [min(other, other ^ row) for other in rows]
    return found


@pytest.mark.parametrize("expression", ["identity", "gray^-1 * bitreverse", "xor(5) * rotate(2)", "transpose(2,5)", "morton(1)"])
def test_maps(expression):
    n = 7
    shown = xorder.show(expression, n)
    x = np.arange(1 << n)
    bits = x[:, None] >> np.arange(n) & 1
    target = (bits @ shown.matrix.T.astype(int) & 1) @ (1 << np.arange(n)) ^ shown.complement
    moved = np.empty(1 << n, int)
    moved[target] = x
    assert np.array_equal(moved, xorder.permute(x, by=expression))
    assert shown.rank_gamma == [rank(shown.matrix[b:, :b]) for b in range(n + 1)]
    assert np.array_equal(xorder.show(shown.matrix, complement=shown.complement).matrix, shown.matrix)
    assert ElementTree.fromstring(shown._repr_svg_()).tag.endswith("svg") and "matrix" not in repr(shown)


def test_passes():
    shown = xorder.show("bitreverse", 16, block=32, memory=128)
    assert shown.details["passes"] == 3 == len(shown.details["factors"]) and "passes: 3" in repr(shown)
    assert shown.svg != xorder.show("bitreverse", 16).svg  # the block is outlined
    if "XORDER" in os.environ:
        words = ["show", "bitreverse", "--bits", "16", "--block", "32"]
        json_ = subprocess.run([os.environ["XORDER"], *words, "--memory", "128", "--json"], capture_output=True, check=True).stdout
        expected = json.loads(json_)
        assert expected.pop("expression") == "bitreverse" and expected == shown.details
        subprocess.run([os.environ["XORDER"], *words, "--svg", "a.svg"], check=True)
        with open("a.svg", encoding="utf-8") as file:
            assert file.read() == shown.svg


@pytest.mark.parametrize("call, error, says", [
    (lambda: xorder.show("gray"), TypeError, "needs bits"),
    (lambda: xorder.show(5), TypeError, "neither a text nor a matrix"),
    (lambda: xorder.show("grey", 3), ValueError, "grey"),
    (lambda: xorder.show("gray", 63), ValueError, "expected 0 to 62"),
    (lambda: xorder.show("gray", -1), ValueError, "expected 0 to 62"),
    (lambda: xorder.show([[1, 1], [1, 1]]), ValueError, "singular|invert"),
    (lambda: xorder.show([[0, 1], [1, 0]], 3), ValueError, "has 2 rows, but bits is 3"),
    (lambda: xorder.show("gray", 8, block=3), ValueError, "block is 3"),
    (lambda: xorder.show("gray", 8, block=512), ValueError, "only 256"),
    (lambda: xorder.show("gray", 8, memory=16), ValueError, "memory needs block"),
    (lambda: xorder.show("bitreverse", 8, block=16, memory=16), ValueError, "more than one block"),
    (lambda: xorder.show("gray", 8, block=0), ValueError, "block is 0")])
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_wrong_traces():
    np.savez("a.npz", a=1)
    np.save("a.npy", np.zeros(3))
    with open("text", "w", encoding="utf-8") as file:
        file.write("no trace at all")
    for name in ["a.npz", "a.npy", "text", os.devnull]:
        with pytest.raises(ValueError, match="is not a trace"):
            xorder.load_trace(name)


def test_schedules():
    for network in ["hypercube:3", "mesh:5", "torus:4"]:
        s = xorder.schedule("transpose", network)
        assert ElementTree.fromstring(s.svg("a < b")).tag.endswith("svg") and "a &lt; b" in s.svg("a < b")
        assert f"{s.steps} step" in s._repr_svg_() and "at least" in s._repr_svg_()
    mine = xorder.schedule(None, "hypercube:1", [{"step": 0, "from": [0, 0], "to": [1, 0]}])
    assert "1 message between 2 nodes of a hypercube" in mine.svg() and "at least" not in mine.svg()
    large = xorder.schedule("transpose", "mesh:50")
    assert large._repr_svg_() is None
    with pytest.raises(ValueError, match="at most 40"):
        large.svg()
    with pytest.raises(TypeError, match="title is a"):
        mine.svg(5)


@pytest.mark.skipif("XORDER" not in os.environ, reason="XORDER names no program")
def test_benchmarks():
    subprocess.run([os.environ["XORDER"], "bench", "cache", "--size", "64KiB", "--rounds", "3", "--json", "b.json", "-q"], check=True)
    samples, results = xorder.load_bench("b.json")
    assert results["benchmark"] and len(samples) > 30 and set(samples["round"]) == {0, 1, 2}
    for figure in results["figures"]:
        of_figure = samples[samples["figure"] == figure["id"]]
        for series in figure["series"]:
            for point in series["points"]:
                here = of_figure[(of_figure["series"] == series["name"]) & (of_figure["x"] == point["x"])]
                assert here["value"].tolist() == point["samples"]
    for text in ["", "[]", "{}", '{"figures": [1]}', "[" * 100000,
                 '{"figures": [{"id": "a", "series": [{"name": "b", "points": [{"x": "c", "samples": [1]}]}]}]}']:
        with open("wrong.json", "w", encoding="utf-8") as file:
            file.write(text)
        with pytest.raises(ValueError, match="wrong.json: has no results"):
            xorder.load_bench("wrong.json")
