#!/usr/bin/python3
"""Whatever happens, OUT is complete or as before, and nothing else is left behind."""

import itertools
import os
import shutil
import stat

import harness
from harness import Case, LONG, main, np, transposed


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.array = self.noise((30, 40), "f8")
        self.save("a.npy", self.array)

    def test_existing_output(self):
        self.write("b.npy", "precious")
        self.refused("transpose", "a.npy", "b.npy", says=[r"b\.npy", "exists", "--force"])
        self.assertEqual(self.bytes_of("b.npy"), b"precious")
        self.ok("transpose", "a.npy", "b.npy", "--force")
        self.assert_same(self.load("b.npy"), transposed(self.array))

    def test_permissions(self):
        for engine in self.few(["direct", "mapped"], 1):
            os.chmod(self.path("a.npy"), 0o666)
            for mask in [0o022, 0o077, 0o002]:
                self.ok("transpose", "a.npy", "new.npy", "--io", engine, umask=mask)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o666 & ~mask)
                os.unlink(self.path("new.npy"))
            for mode in [0o600, 0o640, 0o444]:  # a private input makes a private output
                os.chmod(self.path("a.npy"), mode)
                self.ok("transpose", "a.npy", "new.npy", "--io", engine, umask=0o002)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o600 | mode & 0o066)
                os.unlink(self.path("new.npy"))
            os.chmod(self.path("a.npy"), 0o666)
            for mode in [0o600, 0o644, 0o640, 0o444, 0o777]:
                self.write("b.npy", "old")
                os.chmod(self.path("b.npy"), mode)
                self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("b.npy")).st_mode), mode)
                os.unlink(self.path("b.npy"))

    def test_only_the_output_appears(self):
        for engine in ["direct", "mapped"]:
            self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
            self.assertEqual(sorted(os.listdir(self.dir)), ["a.npy", "b.npy"])

    def test_what_killed_runs_have_left_is_named(self):
        """But not removed: the process may be in another container, or on another machine."""
        left = ".b.npy.xorder-4194305-0"  # of no process
        self.write(left, "complete but for its name")
        said = self.ok("transpose", "a.npy", "b.npy").stderr
        self.assertIn(f"note: {left} is left by a killed run, or by one still writing b.npy; to remove it: rm {left}\n", said)
        self.assertEqual(self.ok("transpose", "a.npy", "b.npy", "--force", "-q").stderr, "")
        self.assertNotIn("left behind", self.ok("transpose", "a.npy", "c.npy").stderr)
        self.assertEqual(self.bytes_of(left), b"complete but for its name")

    def test_the_input_is_not_written(self):
        os.chmod(self.path("a.npy"), 0o444)
        before = self.listing()
        self.ok("transpose", "a.npy", "b.npy")
        after = self.listing()
        for path, what in before.items():
            if path != os.fsencode(self.dir):
                self.assertEqual(after[path], what)

    def test_same_file(self):
        os.symlink("a.npy", self.path("symbolic.npy"))
        os.link(self.path("a.npy"), self.path("hard.npy"))
        os.mkdir(self.path("folder"))
        os.symlink("..", self.path("folder/up"))
        names = ["a.npy", "./a.npy", "folder/../a.npy", "folder/up/a.npy", "symbolic.npy", "hard.npy", self.path("a.npy")]
        for source in names:
            for target in self.sample(names, 2 if LONG else 1):
                with self.subTest(source=source, target=target):
                    self.refused("transpose", source, target, "--force", says="same file")
        self.assert_same(self.load("a.npy"), self.array)

    def test_text_files_that_were_read(self):
        """A matrix or a profile is an input, too."""
        matrix = "\n".join("".join("01"[i == j] for j in range(16)) for i in range(16))
        profile = '{"points": [[4096, 1e9, 1e9]]}'
        self.save("flat.npy", np.arange(1 << 16))
        self.write("matrix", matrix)
        self.write("profile", profile)
        os.symlink("matrix", self.path("link"))
        command = ("permute", "flat.npy", "--force", "--matrix", "matrix", "--device", "profile")
        for name in ["matrix", "./matrix", "link", "profile"]:
            self.refused(*command[:2], name, *command[2:], says=f"{name}: is the same file as the input")
            self.refused(*command[:2], "out.npy", *command[2:], "--trace", name, says=f"{name}: is the same file as the input")
        for name, content in [("matrix", matrix), ("profile", profile)]:
            with open(self.path(name)) as file:
                self.assertEqual(file.read(), content)

    def test_output_through_symbolic_links(self):
        os.mkdir(self.path("folder"))
        os.symlink("folder/real.npy", self.path("link.npy"))
        os.symlink("folder", self.path("shortcut"))
        self.ok("transpose", "a.npy", "link.npy")  # dangling: makes what it points at
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.refused("transpose", "a.npy", "link.npy", says="exists")
        self.ok("transpose", "a.npy", "link.npy", "--force")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assert_same(self.load("folder/real.npy"), transposed(self.array))
        self.ok("transpose", "a.npy", "shortcut/other.npy")
        self.assertEqual(sorted(os.listdir(self.path("folder"))), ["other.npy", "real.npy"])

    def test_hard_links_of_an_old_output_keep_its_content(self):
        self.write("b.npy", "precious")
        os.link(self.path("b.npy"), self.path("backup"))
        self.ok("transpose", "a.npy", "b.npy", "--force")
        self.assertEqual(self.bytes_of("backup"), b"precious")

    def test_outputs_that_cannot_be(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        os.symlink("circle", self.path("circle"))
        for name, says in {"folder": "directory", "folder/": "directory", ".": "directory", "missing/b.npy": "missing.*No such",
                           "a.npy/b.npy": "Not a directory", "fifo": "is a FIFO, not a regular file; name a file",
                           "/dev/null": "is a character device, not a regular file; name a file",
                           "-": "not on pipes", "": "empty", "x" * 256: "255", "circle": "symbolic links"}.items():
            for force in self.few([(), ("--force",)], 1):
                with self.subTest(name=name, force=force):
                    self.refused("transpose", "a.npy", name, *force, says=says)

    def test_open_files_as_outputs(self):
        """Whatever they lead to, it would not receive the data: a new file takes its name at the end."""
        os.symlink("/dev/stdout", self.path("link"))
        self.write("there", "precious")
        for name in ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/1", "link"]:
            commands = [("transpose", "a.npy", name), ("show", "gray", "--bits", 4, "--svg", name)]
            for command, force in self.few(itertools.product(commands, [(), ("--force",)]), 1):
                with self.subTest(command=command, force=force):
                    self.refused(*command, *force, says=["is open already", "name one"])
        for force in [(), ("--force",)]:
            with open(self.path("there"), "ab") as out:
                self.assertEqual(self.run_xorder("transpose", "a.npy", "/dev/stdout", *force, stdout=out).returncode, 2)
            self.assertEqual(self.bytes_of("there"), b"precious")

    def test_read_only_directory(self):
        os.mkdir(self.path("folder"), 0o555)
        options = {}
        if os.geteuid() == 0:  # whom permissions do not stop, and others may not be able to reach the program
            os.chmod(self.dir, 0o755)
            shutil.copy(harness.XORDER, self.path("xorder"))
            self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
            harness.XORDER = self.path("xorder")
            options = {"user": 65534, "group": 65534}
        self.refused("transpose", "a.npy", "folder/b.npy", says=["folder", "Permission denied"], **options)

    def test_scratch_files_lie_beside_the_file_that_a_link_leads_to(self):
        """The link's own folder need not be writable."""
        for name in ["links", "folder"]:
            os.mkdir(self.path(name))
        os.symlink("../folder/c.npy", self.path("links/b.npy"))
        os.chmod(self.path("links"), 0o555)
        self.addCleanup(os.chmod, self.path("links"), 0o755)
        options = {}
        if os.geteuid() == 0:  # who may write everywhere
            os.chmod(self.dir, 0o755)
            os.chmod(self.path("folder"), 0o777)
            shutil.copy(harness.XORDER, self.path("xorder"))
            self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
            harness.XORDER = self.path("xorder")
            options = {"user": 65534, "group": 65534}
        self.ok("transpose", "a.npy", "links/b.npy", **options)
        self.assert_same(self.load("folder/c.npy"), transposed(self.load("a.npy")))
        self.assertEqual(os.listdir(self.path("folder")), ["c.npy"])


if __name__ == "__main__":
    main()
