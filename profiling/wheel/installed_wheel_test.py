"""The wheel, installed by Debian's pip into a virtual environment, and used there by
scripts and tests that know nothing of this tree."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import build_wheel

PYTHON = "/usr/bin/python3"  # Debian's
TREE = pathlib.Path.cwd()
MEMPROF = TREE / "profiling/memprof/portable_memprof"

TESTS = '''
import pytest

TABLE = []
CACHE = []

def make_table(count):
    return bytearray(count)

@pytest.mark.limit_memory("24 MB")
def test_within():
    assert len(make_table(20_000_000)) == 20_000_000

@pytest.mark.limit_memory("24 MB")
def test_beyond():
    table = make_table(30_000_000)
    del table

@pytest.mark.limit_memory("1.5 MiB")
def test_small_after_a_higher_peak():
    held = [make_table(1 << 20), make_table(1 << 20)]

@pytest.mark.limit_leaks("1 MB")
def test_leaks():
    TABLE.append(make_table(3_000_000))
    make_table(10_000_000)

@pytest.mark.limit_leaks("1 MB", warmups=1)
def test_fills_a_cache_once():
    if not CACHE:
        CACHE.append(make_table(5_000_000))

@pytest.mark.limit_leaks("1 MB")
def test_cycles_are_collected():
    cycle = [make_table(4_000_000)]
    cycle.append(cycle)

@pytest.mark.limit_memory("1 MB")
def test_fails_by_itself():
    table = make_table(9_000_000)
    assert False, "its own reason"

@pytest.mark.parametrize("count", [1, 2])
def test_without_limit(count):
    make_table(count << 20)
'''


def make_environment(folder):
    """Makes a virtual environment with the wheel; returns its folder."""
    wheel = build_wheel.build_wheel("1.2.3", MEMPROF, TREE / "profiling/stages/footprint.py",
                                    TREE / "LICENSE", folder)
    environment = folder / "environment"
    subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", environment],
                   check=True)
    subprocess.run([environment / "bin/python", "-m", "pip", "install", "--no-index", "--quiet",
                    "--disable-pip-version-check", wheel], check=True)
    return environment


def setUpModule():
    global environment_folder
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    environment_folder = make_environment(pathlib.Path(folder.name))


class InstalledWheelTest(unittest.TestCase):
    def setUp(self):
        self.environment = environment_folder
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)

    def run_in(self, *words, typed="", **variables):
        """Runs a program of the environment, in the working folder."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("FOOTPRINT_", "PYTHON", "RUNFILES"))}
        environment.update({"PATH": "%s/bin:%s" % (self.environment, os.environ["PATH"]),
                            **variables}, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run(
            [self.environment / "bin" / words[0], *words[1:]], cwd=self.work, text=True,
            input=typed, capture_output=True, check=False, env=environment,
            timeout=240)

    def run_tests(self, text, *options, **settings):
        (self.work / "test_memory.py").write_text(text)
        return self.run_in("python", "-m", "pytest", "-p", "no:cacheprovider", *options,
                           **settings)

    def assert_says(self, done, *patterns, status=None):
        said = done.stdout + done.stderr
        if status is not None:
            self.assertEqual(done.returncode, status, said)
        for pattern in patterns:
            self.assertRegex(said, pattern)


class ProgramsTest(InstalledWheelTest):
    SCRIPT = '''
import sys
import footprint
with footprint.stage("hold"):
    held = bytearray(10 << 20)
print(sys.argv[1:], footprint.is_measured(), sys.prefix)
sys.exit(3)
'''

    def test_measures_a_script_in_the_environment(self):
        (self.work / "script.py").write_text(self.SCRIPT)
        done = self.run_in("python", "-m", "footprint", "--sampling=0", "script.py", "one",
                           "--two")
        self.assertEqual(done.stdout, "['one', '--two'] True %s\n" % self.environment)
        self.assert_says(done, r"peak heap  1\d\.\d MiB", r"\bhold\b", r"script\.py:5",
                         status=3)
        # Without memprof a stage does nothing.
        done = self.run_in("python", "script.py")
        self.assertEqual(done.stdout, "[] False %s\n" % self.environment)

    def test_a_copy_beside_the_script_hides_nothing(self):
        copy = self.work / "footprint.py"
        copy.write_text((TREE / "profiling/stages/footprint.py").read_text())
        (self.work / "script.py").write_text(
            self.SCRIPT.replace("sys.exit", "print(footprint.__file__)\nsys.exit"))
        for module in ("footprint", "footprint_memory"):
            done = self.run_in("python", "-m", module, "script.py")
            self.assertIn(str(copy), done.stdout)
            self.assert_says(done, r"peak heap  1\d\.\d MiB", r"\bhold\b", status=3)
        # The copy finds the wheel's program, whatever is in PATH.
        done = self.run_in("python", "-c", "import footprint as f; print(f.find_memprof())",
                           PATH="/usr/bin:/bin")
        self.assert_says(done, "site-packages/footprint_memory/memprof", status=0)
        done = self.run_tests(TESTS, "--memprof")
        self.assert_says(done, "4 failed, 5 passed", status=1)
        # Another module of that name is the project's own affair.
        copy.write_text("")
        done = self.run_tests(TESTS, "--memprof")
        self.assert_says(done, "4 failed, 5 passed", status=1)

    def test_measures_modules_and_code(self):
        done = self.run_in("python", "-m", "footprint", "-c", "print(len(bytearray(7 << 20)))")
        self.assert_says(done, "7340032", "peak heap", status=0)
        (self.work / "part.py").write_text("print(__name__)")
        done = self.run_in("python", "-m", "footprint", "--sampling=none", "-m", "part")
        self.assert_says(done, "__main__", "peak heap", status=0)

    def test_memprof_is_a_command(self):
        done = self.run_in("memprof", "--record=true.run", "/bin/true")
        self.assert_says(done, "peak heap", status=0)
        done = self.run_in("python", "-m", "footprint", "--from=true.run")
        self.assert_says(done, "peak heap", status=0)

    def test_a_variable_may_name_the_command_of_the_wheel(self):
        for name in ("memprof", "link"):
            path = self.environment / "bin" / name
            if name == "link":
                path = self.work / "memprof"
                path.symlink_to(self.environment / "bin/memprof")
            for words in (["python", "-m", "footprint", "-c", "print(7)"],
                          ["memprof", "/usr/bin/printf", "7\n"]):
                done = self.run_in(*words, FOOTPRINT_MEMPROF=str(path))
                self.assert_says(done, r"\A7\n", "peak heap", status=0)

    def test_help_may_stand_behind_an_option(self):
        for words in (["--help"], ["-h"], ["--quiet", "--help"]):
            done = self.run_in("python", "-m", "footprint", *words)
            self.assert_says(done, "python3 -m footprint", "--sampling=BYTES", status=0)
        (self.work / "own.py").write_text("import sys\nprint(sys.argv[1:])")
        done = self.run_in("python", "-m", "footprint", "own.py", "--help")
        self.assert_says(done, r"\['--help'\]", "peak heap", status=0)

    def test_says_what_is_wrong(self):
        for words, why in (
                ((), "which script"), (("-m",), "needs a word after it"),
                (("-W", "error", "x.py"), "-W is not an option of memprof"),
                (("--unknown", "x.py"), "unknown option --unknown"),
                (("absent.py",), "absent.py")):
            done = self.run_in("python", "-m", "footprint", *words)
            self.assert_says(done, why, status=2)
        for path, why in (("/absent/memprof", "/absent/memprof cannot be run: No such file"),
                          ("/", "/ cannot be run: Is a directory")):
            done = self.run_in("python", "-m", "footprint", "x.py", FOOTPRINT_MEMPROF=path)
            self.assert_says(done, why, status=2)

    def test_names_a_wheel_of_another_machine(self):
        program = bytearray(pathlib.Path("/bin/true").read_bytes())
        program[18:20] = (243).to_bytes(2, "little")
        other = self.work / "memprof"
        other.write_bytes(program)
        other.chmod(0o755)
        done = self.run_in("python", "-m", "footprint", "x.py", FOOTPRINT_MEMPROF=str(other))
        self.assert_says(done, "built for another kind of machine", status=2)
        text = program[:18] + (183).to_bytes(2, "little") + program[20:]
        other.write_bytes(text)
        wheel = build_wheel.build_wheel("9.9", other, TREE / "profiling/stages/footprint.py",
                                        TREE / "LICENSE", self.work)
        done = self.run_in("python", "-m", "pip", "install", "--no-index", str(wheel))
        self.assert_says(done, "not a supported wheel on this platform", status=1)


class PluginTest(InstalledWheelTest):
    def assert_judged(self, done):
        self.assert_says(done, "4 failed, 5 passed", status=1)
        self.assert_says(
            done,
            r"test_beyond needed 28\.\d MiB \(30,0\d\d,\d{3} B\) at its peak; its limit is "
            r"24 MB \(24,000,000 B\)",
            r"2\d\.\d MiB  test_memory\.py:8 make_table: return bytearray\(count\)",
            r"test_small_after_a_higher_peak needed 2\.0 MiB",
            r" 2\.\d MiB  test_memory\.py:8 make_table",
            r"test_leaks left 2\.9 MiB \(3,\d\d\d,\d{3} B\) behind; its limit is 1 MB",
            "its own reason", "memory of tests",
            r"28\.\d MiB +\S+ \S*B?  test_memory\.py::test_beyond  \[exceeds 24 MB\]",
            r"test_within  \[within 24 MB\]",
            r"test_fails_by_itself  \[not judged: 1 MB\]",
            r"2\.0 MiB +\S+ B  test_memory\.py::test_without_limit\[2\]")

    def test_judges_limits(self):
        done = self.run_tests(TESTS, "--memprof")
        self.assert_judged(done)
        # The report of a run that ended by itself is not shown.
        self.assertNotIn("peak heap", done.stderr)

    def test_judges_limits_under_memprof(self):
        (self.work / "test_memory.py").write_text(TESTS)
        done = self.run_in("python", "-m", "footprint", "--sampling=16KiB", "-m", "pytest",
                           "-p", "no:cacheprovider")
        self.assert_judged(done)
        self.assert_says(done, "peak heap", "by samples of one in 16.0 KiB")

    def test_judges_limits_in_the_processes_of_xdist(self):
        self.assert_judged(self.run_tests(TESTS, "--memprof", "-n", "2"))

    def test_the_example_of_the_page(self):
        text = (TREE / "profiling/wheel/testdata/test_training.py").read_text()
        done = self.run_tests(text, "--memprof")
        self.assert_says(done, "2 passed", r"test_reading_fits  \[within 24 MB\]", status=0)
        (self.work / "train.py").write_text("print('trained')")
        # The page's `python3 -m footprint train.py`, and its
        # `memprof --record=train.run ./server`.
        done = self.run_in("python3", "-m", "footprint", "train.py")
        self.assert_says(done, "trained", "peak heap", status=0)

    def test_imports_take_no_stages_of_tests(self):
        module = self.work / "a_module_of_its_own.py"
        module.write_text("")
        done = self.run_tests('''
import os, pytest
from footprint_memory import peak_lines
def test_imports():
    import a_module_of_its_own
    names = [stage.get("name") for stage in peak_lines.read_own_run()["processes"][-1]["stages"]]
    assert "test_memory.py::test_imports" in names
    assert not [name for name in names if name and "::" not in name], names
''', "--memprof")
        self.assert_says(done, "1 passed", status=0)

    def test_a_failing_unittest_fails_once(self):
        done = self.run_tests('''
import pytest, unittest
class CaseTest(unittest.TestCase):
    @pytest.mark.limit_leaks("9 MB", warmups=2)
    def test_warms(self): self.fail("in its warmup")
    @pytest.mark.limit_memory("9 MB")
    def test_fails(self): self.fail("by itself")
    @pytest.mark.limit_leaks("9 MB", warmups=1)
    def test_skips(self): self.skipTest("here")
    @pytest.mark.limit_leaks("9 MB", warmups=2)
    def test_passes(self): pass
''', "--memprof")
        self.assert_says(done, "2 failed, 1 passed, 1 skipped", "in its warmup", "by itself",
                         r"test_fails  \[not judged: 9 MB\]",
                         r"test_passes  \[within 9 MB\]", status=1)
        self.assertNotIn("ERROR", done.stdout)

    def test_the_debugger_reads_what_is_typed(self):
        done = self.run_tests("def test_stops():\n    number = 42\n    assert number == 1\n",
                              "--memprof", "--pdb", typed="p number * 100\ncontinue\n")
        self.assert_says(done, r"\(Pdb\) 4200", "1 failed", status=1)

    def test_a_limit_may_be_expected_to_fail(self):
        text = '''
import pytest
def exceed():
    held = bytearray(9_000_000)
@pytest.mark.limit_memory("1 MB")
@pytest.mark.xfail%s
def test_exceeds(): exceed()
@pytest.mark.limit_memory("24 MB")
@pytest.mark.xfail%s
def test_fits(): exceed()
'''
        done = self.run_tests(text % ("", ""), "--memprof")
        self.assert_says(done, "1 xfailed, 1 xpassed", status=0)
        done = self.run_tests(text % (("(strict=True)",) * 2), "--memprof", "-rxf")
        self.assert_says(done, "1 failed, 1 xfailed", r"FAILED test_memory\.py::test_fits",
                         "XFAIL test_memory.py::test_exceeds", status=1)

    def test_a_limit_that_is_not_checked_fails(self):
        done = self.run_tests(TESTS)
        self.assert_says(done, "2 passed, 7 errors", "limit was not checked",
                         r"pytest --memprof", "python3 -m footprint -m pytest", status=1)
        done = self.run_tests(TESTS, "--no-memory-limits")
        self.assert_says(done, "1 failed, 8 passed", status=1)

    def test_a_test_that_is_skipped_needs_no_limit(self):
        done = self.run_tests('''
import pytest
@pytest.fixture
def broken(): raise OSError
@pytest.mark.limit_memory("1 MB")
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.skipif(True, reason="here")
@pytest.mark.limit_leaks("1 MB")
def test_skipif(): pass
@pytest.mark.limit_memory("1 MB")
def test_fixture(broken): pass
''')
        self.assert_says(done, "2 skipped, 1 error", "limit was not checked", status=1)

    def test_refuses_marks_that_cannot_be_read(self):
        done = self.run_tests('''
import pytest
@pytest.mark.limit_memory("24 Mb")
def test_unit(): pass
@pytest.mark.limit_memory
def test_none(): pass
@pytest.mark.limit_leaks("1 MB", warmup=3)
def test_word(): pass
''', "--memprof")
        self.assert_says(done, "3 errors", "'Mb' is not B, KiB", "takes one limit, not 0",
                         "knows no warmup=", status=1)
        self.assertEqual(done.stdout.count("'Mb' is not B, KiB"), 1, done.stdout)

    def test_shows_the_stage_of_a_test_that_dies(self):
        for death, status in (("os.kill(os.getpid(), 9)", 137), ("os._exit(5)", 5)):
            done = self.run_tests("import os\ndef test_dies(): %s\n" % death, "--memprof")
            self.assert_says(done, "peak heap", r"test_memory\.py::test_dies", status=status)

    def test_names_a_test_whose_worker_died(self):
        done = self.run_tests('''
import os, pytest
@pytest.mark.limit_memory("1 MB")
def test_dies(): os.kill(os.getpid(), 9)
@pytest.mark.limit_memory("1 MB")
def test_lives(): pass
''', "--memprof", "-n", "1")
        self.assert_says(done, "crashed", "1 failed, 1 passed",
                         r"not measured, as its worker died: test_memory\.py::test_dies",
                         r"test_memory\.py::test_lives  \[within 1 MB\]", status=1)

    def test_a_table_may_be_shorter(self):
        done = self.run_tests(TESTS, "--memprof", "--memory-table=2")
        rows = re.findall(r"^ +[\d.]+ \w+ +[-\d.]+ \w+  test_memory\.py", done.stdout, re.M)
        self.assertEqual(len(rows), 2, done.stdout)
        self.assert_says(done, "and 7 more, which --memory-table=9 shows")
        done = self.run_tests(TESTS, "--memprof", "--memory-table=0")
        self.assertNotIn("memory of tests", done.stdout)

    def test_a_program_that_calls_pytest_is_not_started_again(self):
        (self.work / "test_memory.py").write_text(TESTS)
        done = self.run_in("python", "-c", "import pytest, sys; sys.exit(pytest.main(['--memprof']))")
        self.assert_says(done, "pytest was called by a program", status=4)


def missing():
    """Returns the Debian package that is missing; None: none is."""
    for module, package in (("ensurepip", "python3-venv"), ("pytest", "python3-pytest"),
                            ("xdist", "python3-pytest-xdist")):
        found = subprocess.run([PYTHON, "-c", "import " + module], capture_output=True,
                               check=False)
        if found.returncode != 0:
            return package
    return None


if __name__ == "__main__":
    if missing():
        print("SKIPPED: %s lacks a module: apt-get install %s" % (PYTHON, missing()),
              file=sys.stderr)
        sys.exit(0)
    unittest.main()
