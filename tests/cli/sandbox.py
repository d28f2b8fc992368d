"""What can be forbidden to a process: system calls by seccomp, and memory by a control group. Linux only."""

import ctypes
import errno
import os
import platform
import struct

ARCHITECTURE = {  # audit number, openat
    "x86_64": (0xC000003E, 257),
    "aarch64": (0xC00000B7, 56),
}.get(platform.machine())
IO_URING_SETUP = 425  # everywhere
CALLS = {"x86_64": {"poll": 7, "munmap": 11, "ppoll": 271, "preadv": 295},
         "aarch64": {"ppoll": 73, "munmap": 215, "preadv": 69}}
CALLS = {**CALLS.get(platform.machine(), {}), "io_uring_setup": IO_URING_SETUP, "io_uring_enter": 426}

_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32  # places in struct seccomp_data
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def forbid(io_uring=0, o_direct=False, nameless=False):
    """A preexec_fn: io_uring_setup fails with the error number `io_uring` if it is not 0; opening with O_DIRECT, and files
    without a name (O_TMPFILE), are refused as file systems do that cannot. None where this is not known to work."""
    if ARCHITECTURE is None or os.uname().sysname != "Linux":
        return None
    audit, openat = ARCHITECTURE
    tmpfile = os.O_TMPFILE & ~os.O_DIRECTORY
    flags = (os.O_DIRECT if o_direct else 0) | (tmpfile if nameless else 0)
    # Jumps are (if true, if false) instructions forward; the last three instructions are where they lead.
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_JUMP_EQUAL, 0, 5, audit), (_LOAD, 0, 0, _NUMBER),
            (_JUMP_EQUAL, 4 if io_uring else 3, 0, IO_URING_SETUP), (_JUMP_EQUAL, 0, 2, openat),
            (_LOAD, 0, 0, _THIRD_ARGUMENT), (_JUMP_SET, 2, 0, flags),
            (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERRNO | io_uring), (_RETURN, 0, 0, _ERRNO | errno.EINVAL)]
    return _applying(code)


def deny(**errors):
    """A preexec_fn: system calls of these names fail with these error numbers, if this machine has them."""
    code = [(_LOAD, 0, 0, _NUMBER)]
    for name, error in errors.items():
        if name in CALLS:
            code += [(_JUMP_EQUAL, 0, 1, CALLS[name]), (_RETURN, 0, 0, _ERRNO | error)]
    return _applying([*code, (_RETURN, 0, 0, _ALLOW)])


def _applying(code):
    instructions = b"".join(struct.pack("=HBBI", *line) for line in code)
    program = _Program(len(code), instructions)

    def apply():
        no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
        _libc.prctl(no_new_privileges, 1, 0, 0, 0)
        if _libc.prctl(set_seccomp, filter_mode, ctypes.byref(program), 0, 0) != 0:
            os._exit(125)

    return apply


def seccomp_works():
    """Whether a filter can be installed here."""
    apply = forbid(io_uring=errno.EPERM)
    if apply is None:
        return False
    child = os.fork()
    if child == 0:
        apply()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def accepts_o_direct(directory):
    path = os.path.join(directory, "o_direct")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT))
        return True
    except OSError:
        return False
    finally:
        if os.path.exists(path):
            os.unlink(path)


class TaskGroup:
    """A cgroup that limits processes and threads, version 1 or 2. Raises OSError where one cannot be made."""

    def __init__(self, most):
        parent = "/sys/fs/cgroup/pids/" if os.path.isdir("/sys/fs/cgroup/pids") else "/sys/fs/cgroup/"
        self.path = f"{parent}xorder-test-{os.getpid()}-tasks"
        os.mkdir(self.path)
        try:
            with open(os.path.join(self.path, "pids.max"), "w", encoding="ascii") as file:
                file.write(str(most))
        except OSError:
            self.remove()
            raise

    def enter(self):
        """A preexec_fn."""
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def remove(self):
        os.rmdir(self.path)


class MemoryGroup:
    """A memory cgroup, version 1 or 2. Raises OSError where one cannot be made."""

    def __init__(self, limit):
        name = f"xorder-test-{os.getpid()}"
        if os.path.isdir("/sys/fs/cgroup/memory"):
            self.path, limit_file, self._peak = "/sys/fs/cgroup/memory/" + name, "memory.limit_in_bytes", "memory.max_usage_in_bytes"
        else:
            self.path, limit_file, self._peak = "/sys/fs/cgroup/" + name, "memory.max", "memory.peak"
        os.mkdir(self.path)
        try:
            self._write(limit_file, limit)
            self.peak()
        except OSError:
            self.remove()
            raise

    def _write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def enter(self):
        """A preexec_fn."""
        self._write("cgroup.procs", os.getpid())

    def peak(self):
        """The most memory that it has used, page cache included."""
        with open(os.path.join(self.path, self._peak), encoding="ascii") as file:
            return int(file.read())

    def remove(self):
        os.rmdir(self.path)
