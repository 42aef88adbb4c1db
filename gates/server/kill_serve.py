"""Kills the real server, with its sandboxes, again and again under load.

    kill_serve.py SERVE [KILLS [FLAG...]]

SERVE is the built //gates:serve, which gets the flags, such as those of an engine; this
host must have the sandbox's mechanisms. Bundles fit,
need too much, or leave children behind. Some clients wait for their verdicts,
others only submit; a server is killed soon after its first few verdicts. After
the last kill every acknowledged bundle has its verdict, every verdict that was
seen is the same, and no process, cgroup, mount or work file of a trial is left.
Exits with 1 otherwise.
"""

import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import shell_bundle

_WAITING_CLIENTS = 4
# These clients keep the queue at `_FILLED_QUEUE` trials, also on a slow
# machine.
_SUBMITTING_CLIENTS = 2
_FILLED_QUEUE = 8
_MOST_VERDICTS_BEFORE_A_KILL = 8
_SECONDS_UNTIL_VERDICTS = 120
_KINDS = {
    # kind: script, budget, decision
    "fits": ("#!/bin/sh\nexit 0\n", 64 << 20, "ACCEPT"),
    "exceeds": ("#!/bin/sh\nexit 0\n", 1, "REJECT"),
    "leaves": ("#!/bin/sh\nsleep 100 & sleep 0.2\n", 64 << 20, "ACCEPT"),
}


class Server:

    def __init__(self, program, flags, home):
        environment = {**os.environ, "HOME": home}
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "BUILD_WORKING_DIRECTORY"):
            environment.pop(name, None)
        # The log is a file: nothing would read a pipe after the start.
        self._log = open(home + "/log", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [program, "--unexplained", "--port=0", "--store=" + home + "/store"] + flags,
            env=environment, stderr=self._log)
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:(\d+)",
                              pathlib.Path(home + "/log").read_text(encoding="utf-8"))
            if found or self.process.poll() is not None:
                break
            time.sleep(0.05)
        if not found:
            sys.exit(pathlib.Path(home + "/log").read_text(encoding="utf-8"))
        self.port = int(found[1])
        self.token = pathlib.Path(home + "/.config/footprint/token").read_text(
            encoding="utf-8").strip()

    def ask(self, method, path, body=None):
        """Returns the answer's status and JSON; (None, None) if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None, None
        finally:
            connection.close()

    def end(self, how):
        self.process.send_signal(how)
        status = self.process.wait(timeout=120)
        self._log.close()
        return status


def verdict_of(trial):
    return trial["decision"], trial.get("summary"), trial.get("remarks")


def is_filled(server):
    status, answer = server.ask("GET", "/v1/health")
    return status == 200 and answer["waiting"] >= _FILLED_QUEUE


def await_verdict(server, identity, decided, stops):
    while not stops.is_set():
        status, answer = server.ask("GET", f"/v1/trials/{identity}")
        if status == 200 and answer["trial"]["state"] == "decided":
            decided[identity] = verdict_of(answer["trial"])
            return
        stops.wait(0.02)


def load(server, name, submitted, decided, stops):
    """Submits bundles, and notes what the server acknowledges; `decided` is None
    if nothing waits for verdicts."""
    number = 0
    while not stops.is_set():
        if decided is None and is_filled(server):
            stops.wait(0.05)
            continue
        kind = random.choice(list(_KINDS))
        script, budget_bytes, _ = _KINDS[kind]
        bundle = shell_bundle.make_shell_bundle(script, f"{name} {number}", budget_bytes)
        number += 1
        status, answer = server.ask(
            "POST", "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest(), bundle)
        if status not in (200, 202):
            continue
        identity = answer["trial"]["id"]
        submitted[identity] = kind
        if decided is not None:
            await_verdict(server, identity, decided, stops)


def left_behind(home, processes_before):
    """Returns what the server's trials left behind on this machine."""
    found = [str(path) for path in pathlib.Path("/sys/fs/cgroup").rglob("footprint-[0-9]*")
             if re.match(r"footprint-(\d+)-", path.name)[1] in processes_before]
    found += [line for line in pathlib.Path("/proc/self/mountinfo").read_text(
        encoding="utf-8").splitlines() if home in line]
    for folder in ("work", "trials-*"):
        found += [str(path) for path in pathlib.Path(home + "/store").glob(folder + "/*")]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(home.encode() in word for word in words):
            found.append(f"{path}: {words}")
    return found


def check(server, submitted, decided):
    """Counts verdicts by decision; exits if one is missing or wrong."""
    counts = {}
    for identity, kind in submitted.items():
        deadline = time.time() + 600
        while True:
            status, answer = server.ask("GET", f"/v1/trials/{identity}")
            if status != 200:
                sys.exit(f"LOST: an acknowledged {kind}: {status} {answer}")
            if answer["trial"]["state"] == "decided":
                break
            if time.time() > deadline:
                sys.exit(f"STUCK: {answer}")
            time.sleep(0.02)
        decision, _, remarks = verdict = verdict_of(answer["trial"])
        if identity in decided and decided[identity] != verdict:
            sys.exit(f"CHANGED: {decided[identity]} became {verdict}")
        if decision != _KINDS[kind][2] and decision != "INCONCLUSIVE":
            sys.exit(f"WRONG: {kind} is {decision}: {remarks}")
        counts[decision] = counts.get(decision, 0) + 1
    return counts


def kill_under_load(server, name, submitted, decided):
    """Kills the server after a few verdicts; returns their number."""
    count_before = len(decided)
    wanted = count_before + random.randint(1, _MOST_VERDICTS_BEFORE_A_KILL)
    stops = threading.Event()
    threads = [threading.Thread(target=load, args=(
        server, f"{name} {i}", submitted,
        decided if i < _WAITING_CLIENTS else None, stops))
               for i in range(_WAITING_CLIENTS + _SUBMITTING_CLIENTS)]
    for thread in threads:
        thread.start()
    deadline = time.time() + _SECONDS_UNTIL_VERDICTS
    while len(decided) < wanted and time.time() < deadline:
        time.sleep(0.001)
    time.sleep(random.random() / 10)
    server.end(signal.SIGKILL)
    stops.set()
    for thread in threads:
        thread.join()
    return len(decided) - count_before


def main():
    program = os.path.abspath(sys.argv[1])
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    flags = sys.argv[3:]
    with tempfile.TemporaryDirectory() as home:
        submitted, decided, processes, seen = {}, {}, set(), []
        for kill in range(kills):
            server = Server(program, flags, home)
            processes.add(str(server.process.pid))
            seen.append(kill_under_load(server, str(kill), submitted, decided))
            print(f"kill {kill + 1}: {seen[-1]} verdicts seen", file=sys.stderr, flush=True)
            if seen[-1] == 0:
                sys.exit(f"no verdict in {_SECONDS_UNTIL_VERDICTS} s, before kill {kill + 1}")
        server = Server(program, flags, home)
        processes.add(str(server.process.pid))
        counts = check(server, submitted, decided)
        if server.end(signal.SIGTERM) != 0:
            sys.exit("the last server did not end well")
        left = left_behind(home, processes)
        if left:
            sys.exit("LEFT BEHIND: " + "\n".join(left))
    print(f"{kills} kills, {len(submitted)} acknowledged submissions, {len(decided)} verdicts "
          f"seen before a kill, at least {min(seen)} before each: none lost or changed, "
          f"nothing left; {counts}")


if __name__ == "__main__":
    main()
