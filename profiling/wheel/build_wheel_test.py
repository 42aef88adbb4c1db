"""Tests of build_wheel, with a small program in memprof's place."""

import base64
import hashlib
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

import build_wheel

PROGRAM = "/bin/true"


class BuildWheelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.stages = self.folder / "footprint.py"
        self.stages.write_text("STAGES = 1\n")
        self.license = self.folder / "LICENSE"
        self.license.write_text("Apache License\n")

    def build(self, memprof=PROGRAM, version="1.2.3", output="out"):
        return build_wheel.build_wheel(version, pathlib.Path(memprof), self.stages,
                                       self.license, self.folder / output)

    def program_for(self, machine):
        program = bytearray(pathlib.Path(PROGRAM).read_bytes())
        program[18:20] = machine.to_bytes(2, "little")
        path = self.folder / "program"
        path.write_bytes(program)
        return path

    def assert_refused(self, why, **inputs):
        with self.assertRaisesRegex(build_wheel.Refused, why):
            self.build(**inputs)
        self.assertFalse((self.folder / "out").exists())

    def test_has_the_program_beside_the_module(self):
        with zipfile.ZipFile(self.build()) as wheel:
            self.assertEqual(wheel.read("footprint_memory/memprof"),
                             pathlib.Path(PROGRAM).read_bytes())
            self.assertEqual(wheel.getinfo("footprint_memory/memprof").external_attr >> 16,
                             0o100755)
            self.assertEqual(wheel.read("footprint.py"), b"STAGES = 1\n")
            self.assertEqual(wheel.read("footprint_memory/__init__.py"), b"STAGES = 1\n")
            for name in build_wheel.MODULES:
                compile(wheel.read("footprint_memory/" + name), name, "exec")
            info = "footprint_memory-1.2.3.dist-info/"
            self.assertIn(b"Version: 1.2.3\n", wheel.read(info + "METADATA"))
            self.assertIn(b"footprint = footprint_memory.pytest_plugin",
                          wheel.read(info + "entry_points.txt"))

    def test_each_file_of_this_room_that_runs_elsewhere_is_in_it(self):
        here = pathlib.Path(build_wheel.__file__).parent
        sources = {path.name for path in here.glob("*.py")
                   if not path.name.endswith("_test.py")}
        self.assertEqual(sources - {"build_wheel.py"}, set(build_wheel.MODULES.values()))

    def test_lists_each_file_with_its_hash(self):
        with zipfile.ZipFile(self.build()) as wheel:
            record = wheel.read("footprint_memory-1.2.3.dist-info/RECORD").decode()
            rows = dict(line.split(",", 1) for line in record.splitlines())
            self.assertEqual(set(rows), set(wheel.namelist()))
            for name, row in rows.items():
                if name.endswith("/RECORD"):
                    self.assertEqual(row, ",")
                    continue
                data = wheel.read(name)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                self.assertEqual(
                    row, "sha256=%s,%d" % (digest.decode().rstrip("="), len(data)))

    def test_same_inputs_give_the_same_bytes(self):
        first = self.build(output="first").read_bytes()
        os.utime(self.stages, (1, 1))
        self.assertEqual(self.build(output="second").read_bytes(), first)

    def test_is_named_by_the_machine(self):
        self.assertEqual(self.build(self.program_for(62)).name,
                         "footprint_memory-1.2.3-py3-none-linux_x86_64.whl")
        aarch64 = self.build(self.program_for(183))
        self.assertEqual(aarch64.name, "footprint_memory-1.2.3-py3-none-linux_aarch64.whl")
        with zipfile.ZipFile(aarch64) as wheel:
            self.assertIn(b"Tag: py3-none-linux_aarch64\n",
                          wheel.read("footprint_memory-1.2.3.dist-info/WHEEL"))

    def test_refuses_what_is_no_program_of_a_known_machine(self):
        self.assert_refused("ELF's number 243", memprof=self.program_for(243))
        self.assert_refused("not an ELF program", memprof=self.stages)

    def test_refuses_a_program_that_needs_more_than_glibc(self):
        # Debian's Python needs zlib and expat.
        self.assert_refused("needs lib.*, which a bare Debian lacks",
                            memprof=os.path.realpath(sys.executable))

    def test_refuses_versions_that_pip_does_not_know(self):
        for version in ("", "v1.2.3", "1.2.3 ", "1/2", "1.2-3"):
            self.assert_refused("is not a version", version=version)


if __name__ == "__main__":
    unittest.main()
