"""Schedules: which messages virtual processors send each other in which step."""
from __future__ import annotations

import json
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint64, cast
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._arrays import Path, is_path
from ._library import Handle, Message, check, library, numbers, text_of

_NETWORKS = {"hypercube": 0, "mesh": 1, "torus": 2, "crossbar": 3}
_TASKS = {None: 0, "transpose": 1, "bitreverse": 2}
_MESSAGE = np.dtype([(name, "u8") for name, _ in Message._fields_])
_STEP_MESSAGE = np.dtype([("step", "u8"), *[(name, "u8") for name, _ in Message._fields_]])


def _network(text: str) -> Tuple[int, int]:
    kind, _, size = text.partition(":")
    if kind not in _NETWORKS or not (size.isascii() and size.isdigit()) or len(size) > 18:
        raise ValueError(f"network is {text!r}, not hypercube:D, mesh:N, torus:N or crossbar:P")
    number = int(size)
    if kind == "crossbar":
        if number < 1 or number & (number - 1):
            raise ValueError(f"a crossbar of {number} processors; expected a power of two")
        number = number.bit_length() - 1
    return _NETWORKS[kind], number


class Schedule:
    """Who sends what to whom in which step. Made by `schedule`.

    Attributes
    ----------
    nodes, slots, steps : int
        Virtual processors, places of each, and steps.
    lower_bound : int
        No schedule for the task has fewer steps.
    details : dict
        All figures, as docs/json.md lists them: also 'links', 'messages', 'crossings'.
    """

    def __init__(self, made: Handle) -> None:
        self._made, self._busy = made, threading.Lock()
        self.details: Dict[str, Any] = json.loads(library.xorder_schedule_json(made.pointer))
        self.nodes: int = self.details["nodes"]
        self.slots: int = self.details["slots"]
        self.steps: int = self.details["steps"]
        self.lower_bound: int = self.details["lower_bound"]

    def step(self, number: int) -> np.ndarray[Any, Any]:
        """The messages of one step.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        numpy.ndarray
            A structured array: 'from_node', 'from_slot', 'to_node', 'to_slot', 'via', where the path turns first or
            'to_node', and 'links', how many it has; 0 if the message stays on its node; `paths` has all nodes. All messages
            of a step are read before any is written.
        """
        if not 0 <= number < self.steps:
            raise IndexError(f"step {number} of a schedule of {self.steps} steps")
        count = c_size_t()
        check(library.xorder_schedule_messages(self._made.pointer, number, None, 0, byref(count)))
        out = np.empty(count.value, _MESSAGE)
        messages = cast(out.ctypes.data, POINTER(Message))
        check(library.xorder_schedule_messages(self._made.pointer, number, messages, len(out), byref(count)))
        return out

    def paths(self, number: int) -> List[np.ndarray[Any, Any]]:
        """The paths of the messages of one step.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        list of numpy.ndarray
            In the order of `step`: the nodes of each path, both ends included.
        """
        links = self.step(number)["links"]
        out = np.empty(int(links.sum()) + len(links), np.uint64)
        count = c_size_t()
        nodes = cast(out.ctypes.data, POINTER(c_uint64))
        check(library.xorder_schedule_paths(self._made.pointer, number, nodes, len(out), byref(count)))
        return np.split(out, np.cumsum(links + 1)[:-1]) if len(links) else []

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        """The messages of one step after another, so that a long schedule takes no memory."""
        return map(self.step, range(self.steps))

    @property
    def messages(self) -> np.ndarray[Any, Any]:
        """All messages, with their 'step' before the fields of `step`."""
        steps = list(self)
        out = np.empty(sum(map(len, steps)), _STEP_MESSAGE)
        begin = 0
        for number, step in enumerate(steps):
            part = out[begin:begin + len(step)]
            part["step"] = number
            for name in step.dtype.names:
                part[name] = step[name]
            begin += len(step)
        return out

    def check(self) -> Dict[str, Any]:
        """Carry labels through all steps, without knowing what made the schedule, and watch the links.

        Returns
        -------
        dict
            'correct', 'complete', 'conflicts', 'faults' and others, as docs/json.md lists them.

        Raises
        ------
        ValueError
            There are more than 2^24 slots in all.
        """
        text = c_char_p()
        with self._busy:
            check(library.xorder_schedule_check(self._made.pointer, byref(text)))
            report: Dict[str, Any] = json.loads(text.value or b"")
        return report

    def svg(self, title: str = "schedule") -> str:
        """Its drawing: steps down, links across; or, of a mesh or a torus, the paths of each step.

        Parameters
        ----------
        title : str, optional
            What stands above it.

        Raises
        ------
        ValueError
            There are more steps, links or nodes than can be seen.
        """
        if not isinstance(title, str):
            raise TypeError(f"title is a {type(title).__name__}")
        return text_of("schedule_svg", self._made.pointer, title.encode(errors="replace").replace(b"\0", b"?"))

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg(repr(self))
        except ValueError:  # too large to be seen
            return None

    def __repr__(self) -> str:
        return (f"<xorder.Schedule of {self.steps} steps (at least {self.lower_bound}), {self.details['messages']} messages "
                f"between {self.nodes} nodes>")


def schedule(task: Union[str, None, Any], network: str, messages: Union[Path, Iterable[Mapping[str, Any]], None] = None) -> Schedule:
    """A schedule for virtual processors.

    Parameters
    ----------
    task : {'transpose', 'bitreverse', None} or array_like
        What has to arrive where: slot j of node i trades places with slot i of node j (on a mesh or a torus node (i, j)
        with node (j, i)); slot j of node i of P is word i P + j, and the words are bit-reversed; nothing, with `messages`
        only. Or packets for a hypercube: rows of a node, a slot, and the node and slot where they go, as integers.
    network : str
        'hypercube:D' of 2^D nodes, 'mesh:N' or 'torus:N' of N x N nodes, or 'crossbar:P', with `messages` only.
    messages : path or iterable of dict, optional
        A schedule of your own: a file as `xorder schedule --messages` writes it, or its lines:
        ``{"step": 0, "from": [node, slot], "to": [node, slot], "path": [node, ...]}``, where a straight path may be left out.

    Returns
    -------
    Schedule
        Its messages, which `Schedule.check` checks.

    Raises
    ------
    ValueError
        There is no schedule for that; a message does not exist on the network.

    Examples
    --------
    >>> import xorder
    >>> s = xorder.schedule('transpose', 'hypercube:3')
    >>> s
    <xorder.Schedule of 4 steps (at least 4), 96 messages between 8 nodes>
    >>> s.check()['correct']
    True
    >>> s.step(0)[['from_node', 'to_node']][:3].tolist()
    [(0, 1), (0, 2), (0, 4)]
    >>> xorder.schedule([(0, 0, 3, 0), (3, 0, 0, 0)], 'hypercube:2').steps
    2
    """
    kind, size = _network(network)
    if task is not None and not isinstance(task, str):
        packets = np.asarray(task)
        if packets.ndim != 2 or packets.shape[1] != 4 or packets.dtype.kind not in "iu" or (packets < 0).any():
            raise ValueError("packets are rows of four numbers: node, slot, target node, target slot")
        if kind != _NETWORKS["hypercube"] or messages is not None:
            raise ValueError("packets are for a hypercube, and without messages")
        slots = int(packets[:, 1::2].max(initial=0)) + 1
        return Schedule(Handle("schedule_search", size, slots, numbers(packets.reshape(-1).tolist()), len(packets)))
    if task not in _TASKS:
        raise ValueError(f"task is {task!r}, neither 'transpose' nor 'bitreverse' nor packets")
    if messages is None:
        if task is None:
            raise TypeError("task is None, which needs messages")
        return Schedule(Handle("schedule_create", _TASKS[task], kind, size))
    text, name = b"", b"messages"
    if is_path(messages):
        path: Any = messages
        with open(path, "rb") as file:
            text, name = file.read(), os.fsencode(path)
    else:
        lines: Any = messages
        text = "\n".join(json.dumps(dict(line)) for line in lines).encode()
    if b"\0" in text:
        raise ValueError(f"{os.fsdecode(name)}: is no text")
    return Schedule(Handle("schedule_read", text, name, kind, size, _TASKS[task]))
