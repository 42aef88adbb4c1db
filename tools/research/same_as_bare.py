"""Commands that nobody here wrote, and hostile situations: alone, and under memprof.

    same_as_bare.py FOLDER LIST MEMPROF [REGEX]

Prints a row of a table for each line of LIST whose command matches REGEX (all without
one), and counts at the end. FOLDER has the lists and what they need; LIST is one of its
files. A line is `NEEDED, NEEDED: COMMAND`: a command of the shell, which runs if the
programs and files that it needs are there; the word `root` stands for the user. In the command
$M is nothing or memprof, which writes what it measured, and $Q is nothing or memprof
that writes nothing.

Each command runs twice alone and once under memprof, each time in the same folder with
the same files in it. If the two runs alone agree, output, errors and status must be the
same under memprof; else only the status must be. What memprof itself says, after the
program's errors, is left out. Ends with 1 if a command differs, crashes or hangs.
"""

import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

LIMIT_S = 180
# Some situations hide /tmp, so the runner's folder lies elsewhere.
PARENT_FOLDER = "/var/tmp"
# A shell says 128 + N of a program that signal N ended, and its parent sees -N.
CRASHES = {status for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL,
                                 signal.SIGFPE) for status in (-number, 128 + number)}
Result = collections.namedtuple("Result", ["status", "output", "errors"])
Case = collections.namedtuple("Case", ["needs", "command"])


def read_cases(text):
    """Returns the cases of a list.

    A line that begins with # is a comment. One that begins with a tab continues the
    command of the line before.
    """
    cases = []
    for number, line in enumerate(text.replace("\n\t", "\0").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        needs, colon, command = line.replace("\0", "\n").partition(": ")
        if not colon or not command.strip():
            raise ValueError("case %d is not `NEEDED: COMMAND`: %s" % (number, line))
        if not re.search(r"\$[MQ]\b", command):
            raise ValueError("case %d has neither $M nor $Q: %s" % (number, line))
        cases.append(Case([need.strip() for need in needs.split(",")], command.strip()))
    return cases


def search_path():
    """Returns the folders of Debian's own programs, those of its servers among them."""
    return ":".join(sorted(glob.glob("/usr/lib/postgresql/*/bin")) +
                    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/games"])


def is_there(need):
    if need == "root":
        return os.geteuid() == 0
    if need.startswith("/"):
        return os.path.exists(need)
    return shutil.which(need, path=search_path()) is not None


def missing(case):
    """Returns what the case needs and is not there."""
    return [need for need in case.needs if not is_there(need)]


def stop(group):
    """Kills what a command left, by its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def run(command, folder, environment):
    """Runs the command in the folder; a status of None says that it did not end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                 start_new_session=True)
        try:
            status = child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        stop(child.pid)
        child.wait()
        output.seek(0)
        errors.seek(0)
        return Result(status, output.read(), errors.read())


def verdict(first, second, measured):
    """Returns the word for a case, and whether it is as it should be.

    memprof ends with 128 + N, as its help says, where the program ended by signal N.
    """
    if first.status is not None and first.status < 0 and measured.status == 128 - first.status:
        measured = measured._replace(status=first.status)
    if measured.status is None and first.status is not None:
        return "HANGS", False
    if measured.status != first.status:
        if measured.status == 2 and measured.errors.startswith(b"memprof: "):
            return "refused: " + measured.errors.decode(errors="replace").strip(), False
        word = "CRASHES" if measured.status in CRASHES else "DIFFERS"
        return "%s: status %s, alone %s" % (word, measured.status, first.status), False
    if first != second:
        return "same status; alone it does not repeat", True
    if measured.output != first.output:
        return "DIFFERS: output", False
    if not measured.errors.startswith(first.errors):
        return "DIFFERS: errors", False
    return "same", True


class Runner:
    """Runs cases in one folder, which is made anew for each run."""

    def __init__(self, sources, memprof):
        self._top = tempfile.mkdtemp(prefix="same_as_bare.", dir=PARENT_FOLDER)
        os.chmod(self._top, 0o755)
        self._template = os.path.join(self._top, "template")
        self._folder = os.path.join(self._top, "run")
        self._record = os.path.join(self._top, "run.json")
        # Another user may run it, who does not reach the place that it was built at.
        self._memprof = shutil.copy(memprof, os.path.join(self._top, "memprof"))
        os.mkdir(self._template)
        subprocess.run(["bash", os.path.join(sources, "make_inputs.sh"), sources],
                       cwd=self._template, check=True)

    def close(self):
        shutil.rmtree(self._top, ignore_errors=True)

    def _run(self, command, prefix, quiet_prefix):
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._template, self._folder, symlinks=True)
        os.chmod(self._folder, 0o777)
        environment = {"HOME": self._folder, "LC_ALL": "C.UTF-8", "USER": "user", "TERM": "dumb",
                       "PATH": search_path(), "M": prefix, "Q": quiet_prefix}
        return run(command, self._folder, environment)

    def alone(self, case):
        return self._run(case.command, "", "")

    def measured(self, case):
        """Returns the result, the processes with a record, and the highest heap, bytes."""
        quiet = self._memprof + " --quiet"
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._record)
        result = self._run(case.command, "%s --json=%s" % (quiet, self._record), quiet)
        try:
            with open(self._record) as file:
                processes = json.load(file)["processes"]
        except (OSError, ValueError):
            return result, 0, 0
        return result, len(processes), max(p["peak_live_bytes"] for p in processes)


def show_difference(first, measured):
    """Prints what tells the runs apart, for whoever mends it."""
    for name in ("output", "errors"):
        alone, under = getattr(first, name), getattr(measured, name)
        if alone != under:
            print("    %s alone: %r\n    %s measured: %r" %
                  (name, alone[-600:], name, under[-1200:]), file=sys.stderr, flush=True)


def main():
    sources, list_path, memprof = sys.argv[1:4]
    pattern = re.compile(sys.argv[4] if len(sys.argv) > 4 else "")
    with open(os.path.join(sources, list_path)) as file:
        cases = [case for case in read_cases(file.read()) if pattern.search(case.command)]
    runner = Runner(os.path.realpath(sources), os.path.realpath(memprof))
    counts = collections.Counter()
    print("| command | under memprof | processes | highest heap, KiB |\n|---|---|---|---|")
    for case in cases:
        absent = missing(case)
        shown = case.command.replace("\n", "; ").replace("|", "\\|")
        if absent:
            counts["skipped"] += 1
            print("| `%s` | skipped: no %s | | |" % (shown, ", ".join(absent)), flush=True)
            continue
        first, second = runner.alone(case), runner.alone(case)
        measured, processes, peak = runner.measured(case)
        word, is_good = verdict(first, second, measured)
        counts["of them " + word.partition(":")[0]] += 1
        counts["run"] += 1
        counts["not as alone"] += not is_good
        print("| `%s` | %s | %d | %d |" % (shown, word, processes, peak // 1024),
              flush=True)
        if not is_good:
            show_difference(first, measured)
    runner.close()
    print("\n" + "; ".join("%s %d" % item for item in sorted(counts.items(), reverse=True)))
    sys.exit(1 if counts["not as alone"] else 0)


if __name__ == "__main__":
    main()
