#!/usr/bin/python3
"""xorder bench disk: what it prints, what it keeps, and that plans go by it."""

import json
import os

from harness import Case, main


class BenchDisk(Case):
    quick = ("bench", "disk", "--size", "64MiB", "--seconds", "0.02")

    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        result = self.run_xorder(*self.quick, "--no-keep", "-q", ".")
        if "refuses direct access" in result.stderr:
            self.skipTest("no direct access here")
        self.assertEqual(result.returncode, 0, result.stderr)

    def kept(self):
        folder = self.path("cache/xorder")
        return [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []

    def test_the_profile_is_kept_and_used(self):
        self.save("a.npy", self.noise((64, 64), "f8"))
        plan = ("transpose", "a.npy", "b.npy", "--io", "direct", "--dry-run")
        self.assertEqual(self.json(*plan, env=self.env)["device"], "ssd")
        profile = self.json(*self.quick, env=self.env)
        self.assertEqual(len(self.kept()), 1)
        with open(self.kept()[0], encoding="utf-8") as file:
            self.assertEqual(json.load(file), profile)
        self.assertEqual(self.json(*plan, env=self.env)["device"], profile["name"])
        self.assertEqual(self.json(*plan, "--device", "hdd", env=self.env)["device"], "hdd")
        for point in profile["points"]:
            self.assertEqual(len(point), 4)
            self.assertTrue(all(number > 0 for number in point))

    def test_what_is_not_to_be_kept_is_not(self):
        self.write("profile", self.ok(*self.quick, "--no-keep", "--json", "-q", env=self.env).stdout)
        self.assertEqual(self.kept(), [])
        self.save("a.npy", self.noise((64, 64), "f8"))
        self.ok("transpose", "a.npy", "b.npy", "--io", "direct", "--device", "profile")

    def test_a_damaged_profile_is_named_and_not_used(self):
        self.ok(*self.quick, "-q", env=self.env)
        with open(self.kept()[0], "w", encoding="utf-8") as file:
            file.write("{")
        self.save("a.npy", self.noise((64, 64), "f8"))
        result = self.ok("transpose", "a.npy", "b.npy", "--io", "direct", "--dry-run", env=self.env)
        self.assertRegex(result.stderr, r"note: \S+disk-\w+\.json: not a device profile.*using ssd")
        self.assertIn("on ssd", result.stdout)

    def test_bad_arguments(self):
        self.refused("bench", says="subcommand")
        self.refused("bench", "disk", "missing", says="missing")
        self.refused("bench", "disk", "--seconds", "0", says="--seconds")
        self.refused("bench", "disk", "--seconds", "x", says="--seconds")
        self.refused("bench", "disk", "--size", "1PiB", "-q", says="room|free")


if __name__ == "__main__":
    main()
