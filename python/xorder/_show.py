"""What a permutation is, as numbers and as a picture."""
from __future__ import annotations

import json
import operator
from typing import Any, Dict, Optional

import numpy as np

from ._library import Handle, text_of
from ._permutations import Map, by_map


class Shown:
    """A map of 2^n elements. Made by `show`. Its SVG is its picture in a notebook.

    Attributes
    ----------
    title : str
        The expression.
    bits : int
        n.
    matrix : numpy.ndarray
        A, as n x n zeros and ones: row = target bit, column = source bit, least significant first.
    complement : int
        c: element x goes to A x ^ c.
    rank_gamma : list of int
        By the lg of the block size, 0 to n. One pass takes memory for 2^(b + rank_gamma[b]) elements.
    details : dict
        As `xorder show --json` prints it: also 'inverse', and with `block` the 'passes' and their 'factors'.
    svg : str
        The drawing of `xorder show --svg`.
    """

    def __init__(self, title: str, made: Handle, block: int, memory: int) -> None:
        self.title = title
        self.details: Dict[str, Any] = json.loads(text_of("permutation_json", made.pointer, block, memory))
        self.svg = text_of("permutation_svg", made.pointer, title.encode(errors="replace"), block)
        self.bits: int = self.details["bits"]
        self.complement: int = self.details["complement"]
        self.rank_gamma = list(self.details["rank_gamma"])
        columns = np.array(self.details["columns"], np.uint64)
        self.matrix = (columns >> np.arange(self.bits, dtype=np.uint64)[:, None] & np.uint64(1)).astype(np.uint8)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        passes = self.details.get("passes")
        heading = f"{self.title}, {self.bits} bits" + ("" if passes is None else f", passes: {passes}")
        rows = ["".join(" .1"[1 + value] + " " for value in row) + " " + ".1"[self.complement >> i & 1]
                for i, row in enumerate(self.matrix.tolist())]
        return "\n".join([heading, *rows, "rank gamma: " + " ".join(map(str, self.rank_gamma))])


def show(expression: Map, bits: Optional[int] = None, *, complement: int = 0, block: Optional[int] = None,
         memory: Optional[int] = None) -> Shown:
    """The matrix of a permutation, its cost, and its picture.

    Parameters
    ----------
    expression : str or matrix
        As `by` of `permute`.
    bits : int, optional
        Of an index: 2^bits elements are permuted. Needed by an expression.
    complement : int, optional
        As for `permute`.
    block, memory : int, optional
        Numbers of elements, powers of two: for the passes with such blocks in so much memory.

    Returns
    -------
    Shown
        The columns of its text are those of the matrix and, behind a gap, the complement.

    Raises
    ------
    ValueError
        There is no such map.

    Examples
    --------
    >>> import xorder
    >>> xorder.show('gray * xor(3)', 4)
    gray * xor(3), 4 bits
    1 1 . .  .
    . 1 1 .  1
    . . 1 1  .
    . . . 1  .
    rank gamma: 0 0 0 0 0
    >>> xorder.show('bitreverse', 20, block=1024, memory=4096).details['passes']
    5
    >>> xorder.show('gray', 8).svg[:4]
    '<svg'
    """
    if isinstance(expression, str):
        if bits is None:
            raise TypeError("an expression needs bits, the number of bits of an index")
        title = expression
    else:
        expression = np.asarray(expression)
        if expression.ndim == 0:
            raise TypeError("expression is neither a text nor a matrix")
        title, size = "matrix", len(expression)
        if bits is not None and operator.index(bits) != size:
            raise ValueError(f"the matrix has {size} rows, but bits is {bits}")
        bits = size
    n = operator.index(bits)
    if not 0 <= n <= 62:
        raise ValueError(f"bits is {n}; expected 0 to 62")
    made = by_map((1 << n,), expression, complement, None, 1)
    for name, value in (("block", block), ("memory", memory)):
        if value is not None and not 0 < operator.index(value) < 1 << 63:
            raise ValueError(f"{name} is {value}, not a power of two")
    return Shown(title, made, block or 0, memory or 0)
