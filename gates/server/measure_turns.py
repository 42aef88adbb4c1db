"""Measures how long one token's trials delay another's, and how many large ones run at once.

    measure_turns.py SERVE [FLAG...]

SERVE is a program `serve` (bazel build -c opt //gates/programs:serve_main); the flags go
to it. The sandbox's mechanisms are needed, unless a flag is --despite_missing.

First one token submits 100 trials. Another then submits one at a time. Of the trials that
waited then, at most 1 may be decided before it; those that ran already do not count. Then three trials
are submitted whose budgets together exceed the machine's memory; their processes are
counted while they run, and all three must never run at once. Exits with 1 if one of the
two does not hold.
"""

import hashlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import shell_bundle

_WAITING = 100
_TURNS = 5
# No other program sleeps for so long, so its processes can be told from others.
_SECONDS = "1.2345"


class Server:
    """A server with a store of its own and two tokens."""

    def __init__(self, serve, flags, folder):
        self._environment = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder + "/config",
                                 XDG_DATA_HOME=folder + "/data")
        store = f"--store={folder}/store"
        self._tokens = {
            name: subprocess.run([serve, "token", "add", name, store], check=True, text=True,
                                 stdout=subprocess.PIPE,
                                 env=self._environment).stdout.strip()
            for name in ("many", "one")}
        self._log = pathlib.Path(folder, "log")
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen([serve, "--port=0", store, *flags], stderr=log,
                                             env=self._environment)
        self._port = self._find_port()

    def _find_port(self):
        for _ in range(100):
            found = re.search(r"http://[0-9.]*:(\d+)", self._log.read_text(encoding="utf-8"))
            if found:
                return int(found.group(1))
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"the server did not begin: {self._log.read_text(encoding='utf-8')}")

    def ask(self, token, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, body,
                               {"Authorization": f"Bearer {self._tokens[token]}"})
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status >= 300:
                sys.exit(f"{method} {path}: {answer.status} {text}")
            return json.loads(text)
        finally:
            connection.close()

    def submit(self, token, argument, script, budget_bytes):
        bundle = shell_bundle.make_shell_bundle(script, argument, budget_bytes)
        path = "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest()
        return self.ask(token, "POST", path, bundle)["trial"]["id"]

    def trials(self):
        return self.ask("many", "GET", "/v1/trials?most=500")["trials"]

    def stop(self):
        self._process.terminate()
        self._process.wait()


def measure_delays(server):
    """Returns how many waiting trials of the first token came before each of the other's."""
    for number in range(_WAITING):
        server.submit("many", f"m{number}", "#!/bin/sh\nsleep 0.05\n", 64 << 20)
    delays = []
    for turn in range(_TURNS):
        waiting = {trial["id"] for trial in server.trials() if trial["state"] == "waiting"}
        if not waiting:
            sys.exit("no trial waited, so nothing was measured")
        mine = server.submit("one", f"x{turn}", "#!/bin/sh\nsleep 0.05\n", 64 << 20)
        while True:
            decided = {trial["id"] for trial in server.trials() if trial["state"] == "decided"}
            if mine in decided:
                break
            time.sleep(0.005)
        delays.append(len(waiting & decided))
        print(f"{len(waiting)} trials of the other token waited; {delays[-1]} of them were "
              "decided before this token's")
    return delays


def count_running():
    count = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # It ended meanwhile.
        count += arguments[:2] == [b"sleep", _SECONDS.encode()]
    return count


def measure_together(server):
    """Returns how many of three trials that do not fit together ran at once."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    budget_bytes = memory_bytes * 2 // 5
    begun = {server.submit("many", f"b{number}", f"#!/bin/sh\nsleep {_SECONDS}\n", budget_bytes)
             for number in range(3)}
    most = 0
    while True:
        most = max(most, count_running())
        decided = [trial for trial in server.trials()
                   if trial["id"] in begun and trial["state"] == "decided"]
        if len(decided) == len(begun):
            break
        time.sleep(0.02)
    print(f"of three trials of {budget_bytes >> 20} MiB on a machine of {memory_bytes >> 20} MiB "
          f"at most {most} ran together: {[trial['decision'] for trial in decided]}")
    if most == 0:
        sys.exit("no trial was seen, so nothing was measured")
    return most


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], sys.argv[2:], folder)
        try:
            delays = measure_delays(server)
            together = measure_together(server)
        finally:
            server.stop()
    sys.exit(0 if max(delays) <= 1 and together < 3 else 1)


if __name__ == "__main__":
    main()
