#!/usr/bin/python3
"""The progress bar: it fits on a line of every terminal, keeps its width and leaves nothing behind."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading

import harness
from harness import Case, MiB, main


class Bar(Case):
    def setUp(self):
        super().setUp()
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(24 * MiB)

    def drawn(self, columns, *options, terminal="xterm", seconds=None):
        """What a run of two passes writes to a terminal that many columns wide, or one of one pass that is stopped."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": terminal}
        process = subprocess.Popen(
            [harness.XORDER, "transpose", "a.raw", "b.raw", "--dtype", "V3", "--shape", "2048,4096", "--force",
             *([] if seconds else ["--memory", "16MiB", "--io", "direct", "--device", "hdd"]), *options],
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
        os.close(theirs)
        if seconds:
            threading.Timer(seconds, process.terminate).start()
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
        os.close(ours)
        self.assertEqual(process.wait(harness.TIMEOUT), -signal.SIGTERM if seconds else 0, text)
        return text.decode()

    def test_fits_and_keeps_its_width(self):
        for columns in [6, 12, 30, 54, 55, 79, 80, 200]:
            with self.subTest(columns=columns):
                lines = [line for line in re.split(r"[\r\n]+", self.drawn(columns)) if "%" in line]
                self.assertTrue(lines)
                for line in lines:
                    self.assertLess(len(line), columns)
                self.assertEqual(len({len(line.rstrip()) for line in lines if "-:--" not in line}) <= 1, True, lines)
                if columns >= 80:
                    for word in ["/s", "left", " of 24 MiB"]:
                        self.assertIn(word, lines[-1])

    def test_the_time_left_is_a_time(self):
        """Also before anything has moved, if it is so slow."""
        left = re.findall(r"(\S+) left", self.drawn(80, "--bwlimit", "1MiB", seconds=5 if harness.SANITIZED else 3))
        self.assertTrue(left)
        for time in left:
            self.assertRegex(time, r"\A(-:--|(\d+:)?\d?\d:\d\d)\Z")

    def test_is_rubbed_out(self):
        last = self.drawn(80).rsplit("%", 1)[1]
        self.assertRegex(last, r"\A[^\r]*\r +\r[^\r]*b\.raw: 24 MiB in [^\r]*\r\n\Z")

    def test_no_control_sequences(self):
        self.assertNotIn("\x1b", self.drawn(80))
        self.assertNotIn("\x1b", self.drawn(80, "--progress", "bar", terminal="dumb"))

    def test_none_where_the_terminal_is_dumb(self):
        self.assertRegex(self.drawn(80, terminal="dumb"), r"\Ab\.raw: [^\r]*\r\n\Z")


if __name__ == "__main__":
    main()
