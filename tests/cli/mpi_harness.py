"""What the tests of xorder-mpi share: running it with some ranks.

XORDER_MPI is the program, MPIEXEC the launcher; both are needed, besides what harness.py says.
"""

import os
import re
import subprocess
import time

from harness import TIMEOUT, Case

PROGRAM = os.path.abspath(os.environ.get("XORDER_MPI", "xorder-mpi"))
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec")
ENVIRONMENT = {
    **os.environ, "XDG_CACHE_HOME": os.devnull,
    # As root, with more ranks than processors; not for other MPIs, which ignore it.
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
    "ASAN_OPTIONS": "detect_leaks=0",  # OpenMPI never frees some of what it allocates
}


class MpiCase(Case):
    def start(self, *ranks, preexec_fn=None):
        """Each of `ranks` is (number of ranks, words before the program, its arguments)."""
        command = [MPIEXEC]
        for count, before, arguments in ranks:
            command += [":"] if len(command) > 1 else []
            command += ["-n", str(count), *before, PROGRAM, *(str(argument) for argument in arguments)]
        return subprocess.Popen(command, cwd=self.dir, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn)

    def finish(self, process):
        """What it has printed, and what xorder-mpi itself has said: one line at most."""
        out, error = process.communicate(timeout=TIMEOUT)
        said = re.findall(r"(?m)^xorder-mpi: (?!note: ).*$", error)
        self.assertLessEqual(len(said), 1, error)
        return out, error, said[0] if said else ""

    def mpi_ok(self, ranks, *arguments):
        process = self.start((ranks, [], arguments))
        out, error, _ = self.finish(process)
        self.assertEqual(process.returncode, 0, f"{ranks} ranks, {arguments}: {error}")
        return out, error

    def mpi_fails(self, *ranks, code=2, says=()):
        before = self.listing()
        process = self.start(*ranks)
        out, error, said = self.finish(process)
        self.assertEqual(process.returncode, code, error)
        self.assertEqual(out, "")
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(said, pattern)
        self.assertEqual(self.listing(), before)
        return said

    def ranks_of(self, process, count):
        """The numbers of the launcher's processes, by rank."""
        numbers = {}
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    found = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if found and parent == process.pid:
                numbers[int(found[1])] = int(name)
        self.assertEqual(sorted(numbers), list(range(count)))
        self.assertIsNone(process.poll())
        return [numbers[rank] for rank in range(count)]

    def until(self, process, under_way):
        """Waits until that holds; the run must not be over before."""
        end = time.monotonic() + 30
        while not under_way():
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll(), "it is done before it can be stopped")
            time.sleep(0.01)

    def ended(self, process):
        """Of a run that has been disturbed: it ends soon, and not well.

        A rank that waits for one that is gone waits for ever. Where the file system discards what is freed
        (ext4 with "discard"), each rank needs seconds to close its files: 12 s have been seen beside other tests.
        """
        began = time.monotonic()
        result = self.finish(process)
        self.assertLess(time.monotonic() - began, 60)
        self.assertNotEqual(process.returncode, 0)
        return result
