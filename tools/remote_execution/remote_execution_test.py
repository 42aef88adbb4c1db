#!/usr/bin/env python3
"""Runs //gates:check and the tests on two workers of remote execution, of which one is killed.

    tools/remote_execution/remote_execution_test.py [OPTION ...] [TEST_TARGET ...]

Builds Bazel's own worker from Debian's package bazel-bootstrap-source, and starts two of them
behind one address. First it makes //gates:check of this tree from nothing: each compilation, link
and exact profile must run on a worker. One worker is killed while it runs an action, and comes back
a minute later. The verdict must be ACCEPT. Then it runs the tests (default: //...), none of them
from a cache. The tests that run on this machine must be those that docs/remote_cache.md lists.

The check takes 40 minutes on two busy processors, and the tests longer: start it by hand. Prints
SKIPPED and why if a package is missing. Exits with 1 if something is not as expected.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import build_places

_HERE = pathlib.Path(__file__).resolve().parent
_TREE = _HERE.parent.parent
_PAGE = _TREE / "docs" / "remote_cache.md"
_SOURCES = pathlib.Path("/usr/src/bazel-bootstrap/src/tools/remote/src/main/java")
_BAZEL_JAR = pathlib.Path("/usr/share/bazel/A-server.jar")
_WORKER = "com.google.devtools.build.remote.worker.RemoteWorker"
# These may run nowhere but on a worker: Bazel reports an error if they cannot.
_REMOTE_ONLY = ("CppCompile", "CppPrecompile", "CppLink", "CppArchive", "MemoryProfile")
_ACTIONS_BEFORE_KILL = 200
_SECONDS_DOWN = 60


def find_missing():
    """Returns what this machine lacks for the test, or an empty text."""
    for path, package in ((_BAZEL_JAR, "bazel-bootstrap"), (_SOURCES, "bazel-bootstrap-source")):
        if not path.exists():
            return f"there is no {path}: apt-get install {package}"
    for program, package in (("javac", "default-jdk-headless"), ("nginx", "nginx-light")):
        if not shutil.which(program):
            return f"there is no {program}: apt-get install {package}"
    return ""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def await_port(port, log):
    for _ in range(300):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on port {port} after 30 s; see {log}")


class Process:
    """A process with all that it starts, which end together."""

    def __init__(self, command, log):
        with open(log, "ab") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output,
                                             stdin=subprocess.DEVNULL, start_new_session=True)

    def kill(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


class Workers:
    """Two workers with one folder of blobs and results, and nginx before them.

    Each call goes to the less busy worker, so both execute the actions of one build. A worker that
    is asked for a blob which the other one has written finds it, since the folder is the same.
    """

    def __init__(self, folder, jobs):
        self._folder = folder
        self._jobs = jobs
        self.cache = folder / "cache"
        self.cache.mkdir()
        self._classes = folder / "classes"
        self._compile()
        self.ports = [free_port(), free_port()]
        self._workers = [self._start(number) for number in (0, 1)]
        self.front_port = free_port()
        self._front = self._start_front()

    def _compile(self):
        self._classes.mkdir()
        sources = sorted(str(path) for path in _SOURCES.rglob("*.java"))
        subprocess.run(["javac", "-nowarn", "-proc:none", "-d", self._classes,
                        "-cp", _BAZEL_JAR, *sources], check=True)

    def work_folder(self, number):
        return self._folder / f"work.{number}"

    def _start(self, number):
        # A worker that was killed leaves what it worked on.
        shutil.rmtree(self.work_folder(number), ignore_errors=True)
        self.work_folder(number).mkdir()
        log = self._folder / f"worker.{number}.log"
        worker = Process(["java", "-Xmx2g", "-cp", f"{self._classes}:{_BAZEL_JAR}", _WORKER,
                          f"--listen_port={self.ports[number]}", f"--cas_path={self.cache}",
                          f"--work_path={self.work_folder(number)}", f"--jobs={self._jobs}"], log)
        await_port(self.ports[number], log)
        return worker

    def _start_front(self):
        text = (_HERE / "nginx.conf.in").read_text(encoding="utf-8")
        for name, value in (("FOLDER", self._folder), ("FRONT", self.front_port),
                            ("WORKER_1", self.ports[0]), ("WORKER_2", self.ports[1])):
            text = text.replace(name, str(value))
        configuration = self._folder / "nginx.conf"
        configuration.write_text(text, encoding="utf-8")
        log = self._folder / "nginx_error.log"
        front = Process(["nginx", "-e", log, "-c", configuration], log)
        await_port(self.front_port, log)
        return front

    def executed(self):
        """Returns how many actions each worker has executed to their end."""
        calls = self._folder / "calls.log"
        text = calls.read_text(encoding="utf-8") if calls.exists() else ""
        # The last address is that of the worker that answered, and 0 says that it ended well.
        ended = collections.Counter(re.findall(r"Execution/Execute .*:(\d+) 0$", text, re.MULTILINE))
        return [ended[str(port)] for port in self.ports]

    def is_executing(self, number):
        return any(self.work_folder(number).glob("build-*"))

    def kill(self, number):
        self._workers[number].kill()

    def restart(self, number):
        self._workers[number] = self._start(number)

    def stop(self):
        for process in [self._front, *self._workers]:
            process.kill()


class Death(threading.Thread):
    """Kills the second worker while it runs an action, and starts it again later."""

    def __init__(self, workers):
        super().__init__(daemon=True)
        self._workers = workers
        self._is_over = threading.Event()
        self.at_death = None
        self.at_return = None

    def run(self):
        while sum(self._workers.executed()) < _ACTIONS_BEFORE_KILL:
            if self._is_over.wait(1):
                return
        while not self._workers.is_executing(1):
            if self._is_over.wait(0.05):
                return
        self._workers.kill(1)
        self.at_death = self._workers.executed()
        print(f"worker 2 killed in an action, after {self.at_death} actions", flush=True)
        self._is_over.wait(_SECONDS_DOWN)
        # On a busy machine the other worker may still be at the action that it had.
        while self._workers.executed()[0] == self.at_death[0] and not self._is_over.wait(1):
            pass
        if not self._is_over.is_set():
            self.at_return = self._workers.executed()
            self._workers.restart(1)
            print(f"worker 2 is back, after {self.at_return} actions", flush=True)

    def end(self):
        """Returns what is not as expected: the death must fall into the build."""
        self._is_over.set()
        self.join()
        if self.at_return is None:
            return ["the build ended before the second worker was killed and came back"]
        if self._workers.executed()[1] == self.at_return[1]:
            return ["the second worker executed nothing after it came back"]
        return []


class Build:
    """Bazel, in a copy of the tree and with an output root of its own."""

    def __init__(self, folder, port):
        self._folder = folder
        self._tree = folder / "tree"
        self._tree.mkdir()
        copy = ("git ls-files -co --exclude-standard -z | tar -c --null -T - --ignore-failed-read |"
                ' tar -x -C "$0"')
        subprocess.run(["bash", "-o", "pipefail", "-c", copy, self._tree], cwd=_TREE, check=True)
        self._flags = ["--config=remote", f"--remote_executor=grpc://127.0.0.1:{port}",
                       "--noremote_local_fallback", "--disk_cache=", "--jobs=8", "--noshow_progress"]
        self._flags += [f"--strategy={mnemonic}=remote" for mnemonic in _REMOTE_ONLY]

    def _bazel(self, *arguments):
        return ["bazel", f"--output_user_root={self._folder / 'root'}", *arguments]

    def run(self, command, *arguments):
        """Prints what Bazel prints, and returns its status and output."""
        begin = time.monotonic()
        process = subprocess.Popen(self._bazel(command, *self._flags, *arguments), cwd=self._tree,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output = []
        try:
            for line in process.stdout:
                output.append(line)
                print(line, end="", flush=True)
        except BaseException:
            process.send_signal(signal.SIGINT)
            raise
        finally:
            status = process.wait()
        print(f"-- {command}: exit status {status}, {time.monotonic() - begin:.0f} s", flush=True)
        return status, "".join(output)

    def shut_down(self):
        subprocess.run(self._bazel("shutdown"), cwd=self._tree, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)


def run_check(build, workers, folder):
    """Makes //gates:check and runs it, and returns what is not as expected."""
    death = Death(workers)
    death.start()
    log = folder / "check.json"
    status, _ = build.run("build", f"--execution_log_json_file={log}", "//gates:check")
    faults = death.end()
    if status != 0:
        return faults + [f"//gates:check was not built: status {status}"]
    counts = build_places.count_actions(log)
    print_counts(counts, workers)
    faults += build_places.find_wrong_places(counts)
    for mnemonic in ("CppCompile", "CppLink", "MemoryProfile"):
        if not counts[mnemonic, "remote"]:
            faults.append(f"no {mnemonic} was executed by a worker")
    status, output = build.run("run", "//gates:check")
    if status != 0 or not re.search("^ACCEPT ", output, re.MULTILINE):
        faults.append(f"the verdict is not ACCEPT: status {status}")
    return faults


def print_counts(counts, workers):
    print("action, by, number:")
    for (mnemonic, runner), count in sorted(counts.items()):
        print(f"  {mnemonic:24} {runner:20} {count:6}")
    print(f"executed by worker 1 and 2: {workers.executed()}", flush=True)


def run_tests(build, workers, folder, targets):
    """Runs the tests, and returns what is not as expected."""
    events, log = folder / "tests.events", folder / "tests.json"
    exit_status, _ = build.run(
        "test", "--keep_going", "--build_tests_only", "--nocache_test_results",
        f"--build_event_json_file={events}", f"--execution_log_json_file={log}", "--", *targets)
    print_counts(build_places.count_actions(log), workers)
    statuses, strategies = build_places.read_test_results(events)
    faults = [f"{label}: {status}" for label, status in sorted(statuses.items()) if status != "PASSED"]
    local = {label for label, used in strategies.items() if used != {"remote"}}
    print(f"tests: {len(strategies) - len(local)} on workers, {len(local)} on this machine:")
    for label in sorted(local):
        print(f"  {label}", flush=True)
    listed = build_places.listed_tests(_PAGE)
    faults += [f"{label} ran on this machine, and {_PAGE.name} does not say why"
               for label in sorted(local - listed)]
    faults += [f"{label} ran on a worker, and {_PAGE.name} says it may not"
               for label in sorted(listed & (strategies.keys() - local))]
    # 3: a test has failed, whose status says so. A test that was not built may have no status.
    if exit_status not in (0, 3):
        faults.append(f"bazel test ended with status {exit_status}")
    return faults if strategies else faults + ["no test ran"]


def add_seed(seed, cache):
    """Links a folder of --disk_cache into that of the workers, which has the same form."""
    subprocess.run(["cp", "-a", "--link", "--no-clobber", seed / "ac", seed / "cas", cache], check=True)


def print_logs(folder):
    """Prints the end of what the workers and nginx have reported."""
    for log in sorted(folder.glob("*.log")):
        if log.name != "calls.log":
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            print("\n".join([f"-- {log.name}: {len(lines)} lines, the last ones:", *lines[-10:]]))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path,
                        help="where to work: on the file system of the seed, if there is one")
    parser.add_argument("--only", choices=("check", "tests"), help="one of the two parts")
    parser.add_argument("--jobs", type=int, default=1, help="actions at a time on each worker")
    parser.add_argument("--seed", type=pathlib.Path,
                        help="a folder of --disk_cache, written with the same PATH (a wrapper of "
                             "python3 may change it: start this by /usr/bin/python3): "
                             "what the tests need is not built again")
    parser.add_argument("targets", nargs="*", metavar="TEST_TARGET")
    options = parser.parse_args(arguments)
    if options.seed and not all((options.seed / part).is_dir() for part in ("ac", "cas")):
        parser.error(f"{options.seed} has no folders ac and cas: name a folder of bazel --disk_cache")
    return options


def main(arguments):
    options = parse_arguments(arguments)
    missing = find_missing()
    if missing:
        print(f"SKIPPED: {missing}")
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="remote_execution.", dir=options.folder)).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    # A shell's background job and nohup ignore these, and the workers' tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(each, signal.SIG_DFL)
    workers = build = None
    faults = []
    try:
        workers = Workers(folder, options.jobs)
        build = Build(folder, workers.front_port)
        if options.only != "tests":
            faults += run_check(build, workers, folder)
        if options.seed:
            add_seed(options.seed, workers.cache)
        if options.only != "check":
            faults += run_tests(build, workers, folder, options.targets or ["//..."])
    finally:
        if build:
            build.shut_down()
        if workers:
            workers.stop()
        print_logs(folder)
        subprocess.run(["chmod", "-R", "u+w", folder / "root"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(folder, ignore_errors=True)
    for fault in faults:
        print(f"FAILED: {fault}")
    print("all as expected" if not faults else f"{len(faults)} not as expected")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
