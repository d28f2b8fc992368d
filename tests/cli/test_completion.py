#!/usr/bin/python3
"""What the shells' completions offer."""

import os
import pathlib
import re
import shutil
import subprocess

import harness
from harness import Case, main

SHELLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/xorder/shells"


class Completion(Case):
    def offered(self, *words):
        result = self.ok("__complete", *words)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def commands(self, *path):
        """Of the program, and all in them, as the help has them; and the help."""
        text = self.ok(*path, "--help").stdout
        found = re.findall(r"(?m)^  ([a-z-]+) ", text.partition("\nSubcommands:\n")[2].partition("\n\n")[0])
        yield path, found, text
        for command in found:
            yield from self.commands(*path, command)

    def test_all_commands_and_options(self):
        for path, found, text in self.few(self.commands(), 10):
            with self.subTest(path=path):
                self.assertEqual(self.offered(*path, ""), found)
                if "--help-all" in text:
                    text = self.ok(*path, "--help-all").stdout
                options = set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", text))
                self.assertEqual(set(self.offered(*path, "--")), options)

    def test_values(self):
        self.assertEqual(self.offered("transpose", "a.npy", "--io", ""), ["auto", "direct", "mapped"])
        self.assertEqual(self.offered("transpose", "a.npy", "--io=d"), ["--io=direct"])
        self.assertEqual(self.offered("transpose", "--device", ""), ["ssd", "hdd", "tmpfs"])
        self.assertEqual(self.offered("transpose", "--order", ""), ["C", "F"])
        self.assertEqual(self.offered("transpose", "--memory", ""), [])
        self.assertEqual(self.offered("transpose", "--io", "direct", "--io"), ["--io"])
        self.assertEqual(self.offered("verify", "tr"), ["transpose"])
        self.assertEqual(self.offered("transpose", "a"), [])
        self.assertEqual(self.offered("nonsense", "--nonsense", "x", ""), self.offered(""))

    def test_bash(self):
        self.write("xorder file.npy", b"")
        for line, index, expected in [("xorder trans", 1, ["transpose"]), ("xorder transpose --io", 2, ["--io"]),
                                      ("xorder transpose --io = di", 4, ["direct"]), ("xorder transpose --io =", 3, ["auto", "direct", "mapped"]),
                                      ("xorder transpose xo", 2, [])]:
            script = f'source "{SHELLS}/xorder.bash"; COMP_WORDS=({line}); COMP_CWORD={index}; _xorder "$0"; printf "%s\\n" "${{COMPREPLY[@]}}"'
            result = subprocess.run(["bash", "-c", script, harness.XORDER], cwd=self.dir, capture_output=True, text=True, check=True)
            self.assertEqual((result.stdout.split(), result.stderr), (expected, ""), line)

    def test_zsh_and_fish(self):
        path = {**os.environ, "PATH": f"{os.path.dirname(harness.XORDER)}:{os.environ['PATH']}"}
        for shell, command in [("zsh", ["-n", SHELLS / "_xorder"]),
                               ("fish", ["--no-config", "-c", f"source {SHELLS}/xorder.fish; complete -C 'xorder transpose --io '"])]:
            if shutil.which(shell):
                result = subprocess.run([shell, *command], cwd=self.dir, env=path, capture_output=True, text=True, check=True)
                self.assertEqual(result.stdout.split()[:3], ["auto", "direct", "mapped"] if shell == "fish" else [], result.stderr)


if __name__ == "__main__":
    main()
