#!/usr/bin/python3
"""The help: every subcommand has one, and every example in it works."""

import os
import re
import shlex

import containers
from harness import Case, main, matrix_text, np, random_columns


class Help(Case):
    commands = [("transpose",), ("bitreverse",), ("permute",), ("show",), ("info",), ("machine", "transpose"),
                ("machine", "bitreverse"), ("machine", "permute"), ("machine", "descend"), ("machine", "run"),
                ("verify", "transpose"), ("verify", "bitreverse"), ("verify", "permute")]

    def help(self, *args, flag="--help"):
        result = self.ok(*args, flag)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def examples(self, command):
        """The lines of commands, without what is said of them behind two blanks."""
        lines = re.findall(r"^ +(xorder .*)$", self.help(*command), re.MULTILINE)
        return [shlex.split(re.split(r" {2,}", line)[0]) for line in lines]

    def test_all_commands_are_listed(self):
        text = self.help()
        for command in self.commands:
            self.assertRegex(text, rf"(?m)^ +{command[0]}\b")

    def test_version(self):
        self.assertRegex(self.ok("--version").stdout, r"\A[^\n]*\d+\.\d+\.\d+\n\Z")

    def test_help_is_also_a_word(self):
        for command in self.few([(), ("transpose",), ("bench",), ("descend", "scan"), ("schedule", "mesh"), ("machine", "descend", "scan")], 3):
            self.assertEqual(self.ok("help", *command).stdout, self.help(*command))
        self.assertIn("xorder help COMMAND", self.help())
        self.refused("help", "transpos", says="'transpos' is not a command")

    def test_short_forms(self):
        self.assertEqual(self.ok("-V").stdout, self.ok("--version").stdout)
        self.save("a.npy", self.noise((4, 8), "f8"))
        self.write("b.npy", "old")
        self.write("run.trace", "old")
        self.refused("transpose", "a.npy", "b.npy", says="exists")
        self.ok("transpose", "a.npy", "b.npy", "-qf", "--trace", "run.trace")
        self.assertEqual(self.load("b.npy").shape, (8, 4))
        self.assertNotEqual(self.bytes_of("run.trace"), b"old")
        self.assertRegex(self.help("transpose"), r"-f,--force +replace OUT and the files of --checksum and --trace")
        for command in [("show", "gray", "--bits", 4, "--svg", "b.npy"), ("schedule", "mesh", "--size", 3, "--svg", "b.npy"),
                        ("report", "run.trace", "--html", "b.npy")]:
            self.refused(*command, says="exists")
            self.ok(*command, "-f")

    def test_all_options_are_described(self):
        moving = ["--dtype", "--shape", "--offset", "--memory", "--threads", "--io", "--tmpdir", "--in-place", "--force", "--dry-run",
                  "--progress", "--quiet", "--json", "--device"]
        for command, own in [("transpose", ["--axes", "--banded", "--band-order", "--cyclic", "--matrices"]), ("bitreverse", ["--axis"]), ("permute", ["--by", "--matrix", "--axis"])]:
            text = self.help(command, flag="--help-all")
            for option in moving + own:
                self.assertIn(option, text)
        text = self.help("permute")
        for name in ["transpose(", "bitreverse", "reverse", "gray", "shuffle", "unshuffle", "rotate(", "morton(", "bits(",
                     "xor(", "identity"]:
            self.assertIn(name, text)

    def test_help_fits_on_a_screen(self):
        for command in [("transpose",), ("bitreverse",), ("descend", "shift"), ("descend", "scan"), ("descend", "tridiagonal")]:
            text = self.help(*command)
            self.assertLessEqual(len(text.splitlines()), 50, command)
            for option in ["--schedule", "--layout", "--routing", "--torus", "--network", "--io ", "--device"]:
                self.assertNotIn(option, text, command)
            everything = self.help(*command, flag="--help-all")
            self.assertLess(set(text.splitlines()), set(everything.splitlines()), command)
            self.assertIn("--io auto|direct|mapped", everything)
            self.assertNotIn("--schedule", everything)
        for kind in ["scan", "shift"]:
            self.assertIn("--processors P", self.help("descend", kind, flag="--help-all"))
        self.assertIn("--layout major|minor|F", self.help("machine", "bitreverse"))

    def test_expressions_are_explained(self):
        """Each name that the parser knows has a line, which says where the elements go."""
        known = self.refused("show", "unknown", "--bits", 4).partition("expected one of ")[2].strip()
        for command in ["permute", "show"]:
            explained = dict(re.findall(r"(?m)^  (\w+(?:\([^)]*\))?)  +(\S.*)$", self.help(command).partition("goes to\n")[2]))
            self.assertEqual(set(explained), set(re.findall(r"\w+(?:\([^)]*\))?", known.replace("...", ".."))), command)
        self.assertIn("2x", explained["shuffle"])

    def test_orders_have_their_usual_names(self):
        for word in ["Fortran", "column-major"]:
            self.assertIn(word, self.help("transpose"))

    def test_usage_names_the_files(self):
        for command, files in [(("transpose",), "IN.. OUT"), (("bitreverse",), "IN.. OUT"), (("descend", "tridiagonal"), "A B C D OUT")]:
            self.assertIn(f"Usage: xorder {' '.join(command)} [OPTIONS] {files}\n", self.help(*command))

    def test_options_are_grouped(self):
        """The groups stand in one order in all commands, and each option is described in one style."""
        order = ["What to do", "Band storage", "Virtual processors", "Input", "Which array of IN", "Output", "How OUT is stored", "Resources",
                 "Reporting", "How to do it"]
        moving = [("transpose",), ("bitreverse",), ("permute",), ("descend", "shift"), ("descend", "scan")]
        by_machine = [("machine", *command) for command in moving]
        others = [("show",), ("info",), ("report",), ("machine", "run"), ("descend", "merge"), ("descend", "tridiagonal")]
        for command in ["bench", "schedule"]:
            kinds = re.findall(r"(?m)^  ([\w-]+)  ", self.help(command).partition("Subcommands:")[2])
            self.assertGreater(len(kinds), 3)
            others += [(command, kind) for kind in kinds]
        for command in self.few([*moving, *by_machine, *others], 14):
            text = self.help(*command, flag="--help" if command in others else "--help-all")
            groups = [line for line in re.findall(r"(?m)^(\w[\w ]*):$", text) if line not in ["Positionals", "Examples", "Example"]]
            self.assertLessEqual(set(groups), set(order), command)
            self.assertEqual(sorted(groups, key=order.index), sorted(groups, key=groups.index), command)
            if command not in others:
                special = {"Band storage"} if "transpose" not in command else set()
                special |= {"Virtual processors"} if command in moving else set()
                self.assertEqual(set(groups), set(order) - special, command)
        for command in self.few([*moving, *by_machine, ("show",), ("info",), ("descend", "merge"), ("descend", "tridiagonal")], 6):
            flag = "--help" if command[0] in ["show", "info"] else "--help-all"
            for option, description in re.findall(r"(?m)^  (-\S.*?)(?:  +|\n +)(\S.*)$", self.help(*command, flag=flag)):
                self.assertRegex(description, r"^([a-z(]|IN |Hu's)", (command, option))
                self.assertNotRegex(description, r"[^.]\.$", (command, option))

    def make_files(self, words):
        """Files for an example; they are small or, where the example says how large, sparse."""
        self.save("a.npy", self.noise((64, 64), "f8"))
        self.save("ab.npy", self.noise((4, 100), "f8"))
        self.save("rows.npy", self.noise((100, 4), "f8"))
        self.save("bands.npy", self.noise((4, 100, 7), "f8"))
        self.save("both.npy", self.noise((100 * 11,), "f8"))
        self.save("wide.npy", self.noise((100, 7), "f8"))
        self.save("narrow.npy", self.noise((100, 4), "f8"))
        self.save("video.npy", self.noise((4, 6, 8, 3), "u1"))
        self.save("image.npy", self.noise((48, 64, 3), "u1"))
        self.save("signal.npy", self.noise((8, 256), "f4"))
        self.save("signal.raw", self.noise((1024,), "c16"))
        self.write("cube.fits", containers.fits(None, self.noise((4, 5, 6), ">f4")))
        self.write("trades.jsonl", '{"step":0,"from":[0,0],"to":[1,0]}\n{"step":0,"from":[1,0],"to":[0,0]}\n')
        self.write("a.txt", matrix_text(random_columns(self.random, 10)))
        shape = re.search(r"--shape (\S+)", " ".join(words))
        dtype = re.search(r"--dtype (\S+)", " ".join(words))
        elements = np.prod([int(e) for e in shape[1].split(",")], dtype=np.int64) if shape else 1024
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(int(elements) * np.dtype(dtype[1] if dtype else "u1").itemsize)

    def test_examples(self):
        for command in self.few(self.commands, 6):
            examples = self.examples(command)
            self.assertGreaterEqual(len(examples), 1 if command[-1] == "descend" else 2, command)
            for words in examples:
                with self.subTest(example=shlex.join(words)):
                    self.assertEqual(words[:1 + len(command)], ["xorder", *command])
                    self.make_files(words)
                    before = set(os.listdir(self.dir))
                    if command[0] == "verify":
                        self.ok(*words[2:])  # makes what is checked
                    large = os.path.getsize(self.path("a.raw")) > 1 << 28
                    result = self.run_xorder(*words[1:], *(["--dry-run"] if large and command != ("info",) else []))
                    if large and "no room" in result.stderr:
                        self.skipTest("the disk is too small even for the plan of a large file")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    made = set(os.listdir(self.dir)) - before
                    if command == ("info",) or large or command == ("show",) and "--svg" not in words:
                        self.assertEqual(made, set())
                        self.assertGreater(len(result.stdout), 20)
                    else:
                        self.assertEqual(len(made), 4 if "--split" in words else 1)
                    for name in made:
                        os.unlink(self.path(name))


if __name__ == "__main__":
    main()
