"""Tests of release_programs, with a small program in memprof's place."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

import release
import release_programs

TREE = pathlib.Path.cwd()
PROGRAM = pathlib.Path("/bin/true")
VERSION = release.module_version((TREE / "MODULE.bazel").read_text())


class ReleaseProgramsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = pathlib.Path(folder.name) / "output"

    def make(self, memprof=PROGRAM, tag="v" + VERSION, programs=()):
        return release_programs.make_programs(TREE, memprof, self.output, tag, programs)

    def test_makes_an_archive_and_a_wheel(self):
        wheel, archive = self.make()
        self.assertEqual(wheel.name, "footprint_memory-%s-py3-none-linux_x86_64.whl" % VERSION)
        name = "memprof-%s-linux-x86_64" % VERSION
        self.assertEqual(archive.name, name + ".tar.gz")
        with tarfile.open(archive) as members:
            modes = {member.name: member.mode for member in members}
            self.assertEqual(modes, {
                name + "/memprof": 0o755, name + "/LICENSE": 0o644,
                name + "/footprint.py": 0o644, name + "/footprint_stage.h": 0o644})
            self.assertEqual(members.extractfile(name + "/memprof").read(), PROGRAM.read_bytes())

    def test_same_program_gives_the_same_bytes(self):
        before = [path.read_bytes() for path in self.make()]
        self.assertEqual([path.read_bytes() for path in self.make()], before)

    def test_makes_an_archive_of_the_programs_behind_the_rules(self):
        judge = self.output.parent / "check_main"
        judge.write_bytes(PROGRAM.read_bytes())
        *_, archive = self.make(programs=[judge])
        name = "footprint-programs-%s-linux-x86_64" % VERSION
        self.assertEqual(archive.name, name + ".tar.gz")
        with tarfile.open(archive) as members:
            self.assertEqual({member.name: member.mode for member in members}, {
                name + "/check_main": 0o755, name + "/memprof": 0o755, name + "/LICENSE": 0o644})

    def test_refuses_programs_that_other_machines_cannot_run(self):
        python = pathlib.Path(sys.executable).resolve()
        with self.assertRaisesRegex(release.Refused, "python.*a bare Debian lacks"):
            self.make(programs=[python])
        other = self.output.parent / "other"
        program = bytearray(PROGRAM.read_bytes())
        program[18] = 183
        other.write_bytes(program)
        with self.assertRaisesRegex(release.Refused, "other is for aarch64, but memprof for x86_64"):
            self.make(programs=[other])
        with self.assertRaisesRegex(release.Refused, "not an ELF program"):
            self.make(programs=[TREE / "LICENSE"])
        self.assertFalse(self.output.exists())

    def test_refuses_another_tag_and_a_program_that_is_none(self):
        with self.assertRaisesRegex(release.Refused, "MODULE.bazel says version"):
            self.make(tag="v0.0.0")
        with self.assertRaisesRegex(release.Refused, "not an ELF program"):
            self.make(memprof=TREE / "LICENSE")
        with self.assertRaisesRegex(release.Refused, "a bare Debian lacks"):
            self.make(memprof=pathlib.Path(sys.executable).resolve())
        self.assertFalse(self.output.exists())

    def test_refuses_to_replace_other_bytes(self):
        _, archive = self.make()
        archive.write_bytes(b"another")
        with self.assertRaisesRegex(release.Refused, "is there with other bytes"):
            self.make()
        self.assertEqual(archive.read_bytes(), b"another")

    def test_says_in_a_line_what_is_wrong(self):
        done = subprocess.run(
            [sys.executable, release_programs.__file__, "--memprof=absent", "v" + VERSION],
            cwd=TREE, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Arelease: .*absent.*\n\Z")


if __name__ == "__main__":
    unittest.main()
