"""Tests the server as a process: killed under load, started twice, ended by a signal."""

import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

_OIDC = pathlib.Path(__file__).parent / "testdata/oidc"
_PROGRAM = pathlib.Path(__file__).parent / "serve_example"
# `tools/dev bench` kills more often.
_KILLS = int(os.environ.get("FOOTPRINT_KILLS", "12"))


class _Server:

    def __init__(self, folder, token=None, oidc=()):
        self.process = subprocess.Popen([_PROGRAM, folder, "0", *oidc], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if len(line) != 2:
            raise RuntimeError(self.process.stderr.read())
        self.port, self.token = int(line[0]), token or line[1]

    def ask(self, method, path, body=None):
        """Returns the answer's status and JSON; (None, None) if there is none."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None, None
        finally:
            connection.close()

    def submit(self, bundle):
        return self.ask("POST", "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest(), bundle)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


class ServerProcessTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.store = self._folder.name + "/store"

    def _load(self, server, name, submitted, decided, stops):
        """Submits bundles and notes what the server acknowledges."""
        number = 0
        while not stops.is_set():
            bundle = f"{random.choice(['accept', 'reject'])} {name} {number}".encode()
            number += 1
            status, answer = server.submit(bundle)
            if status not in (200, 202):
                continue
            trial = answer["trial"]
            submitted[trial["id"]] = bundle
            status, answer = server.ask("GET", f"/v1/trials/{trial['id']}")
            if status == 200 and answer["trial"]["state"] == "decided":
                decided[trial["id"]] = (answer["trial"]["decision"], answer["trial"]["remarks"])

    def _check(self, server, submitted, decided):
        for identity, verdict in decided.items():
            status, answer = server.ask("GET", f"/v1/trials/{identity}")
            self.assertEqual(status, 200)
            self.assertEqual((answer["trial"]["decision"], answer["trial"]["remarks"]), verdict)
        for identity, bundle in submitted.items():
            deadline = time.time() + 60
            while True:
                status, answer = server.ask("GET", f"/v1/trials/{identity}")
                self.assertEqual(status, 200, "an acknowledged submission is there")
                if answer["trial"]["state"] == "decided":
                    break
                self.assertLess(time.time(), deadline)
                time.sleep(0.01)
            wanted = "REJECT" if bundle.startswith(b"reject") else "ACCEPT"
            self.assertEqual(answer["trial"]["decision"], wanted)
            self.assertEqual(answer["trial"]["remarks"],
                             ["of " + hashlib.sha256(bundle).hexdigest()])

    def test_kill_9_under_load_loses_nothing_acknowledged(self):
        server = _Server(self.store)
        token, total = server.token, 0
        for kill in range(_KILLS):
            submitted, decided, stops = {}, {}, threading.Event()
            threads = [threading.Thread(target=self._load, args=(
                server, f"{kill} {i}", submitted, decided, stops)) for i in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.05 + 0.3 * random.random())
            server.process.kill()
            stops.set()
            for thread in threads:
                thread.join()
            server.end(signal.SIGKILL)
            server = _Server(self.store, token)
            self._check(server, submitted, decided)
            total += len(submitted)
        print(f"{_KILLS} kills, {total} acknowledged submissions, none lost")
        self.assertGreater(total, _KILLS)
        self.assertEqual(server.end(), 0)

    def test_a_second_server_waits_for_the_first_and_is_then_refused(self):
        server = _Server(self.store)
        with self.assertRaisesRegex(RuntimeError, "another server uses this store"):
            _Server(self.store)
        self.assertEqual(server.ask("GET", "/v1/health")[0], 200)
        self.assertEqual(server.end(), 0)

    def test_a_second_server_starts_once_the_first_has_ended(self):
        first = _Server(self.store)
        ending = threading.Timer(1, first.process.terminate)
        ending.start()
        second = _Server(self.store, first.token)
        self.assertEqual(second.ask("GET", "/v1/health")[0], 200)
        self.assertEqual(first.end(), 0)
        self.assertEqual(second.end(), 0)

    def _lock_database(self):
        """Does what an operator's shell may do to the database of a server that has ended."""
        self.assertEqual(_Server(self.store).end(), 0)
        database = sqlite3.connect(self.store + "/trials.sqlite", isolation_level=None)
        self.addCleanup(database.close)
        database.execute("PRAGMA locking_mode=EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")

    def test_a_locked_database_is_named_and_not_waited_for_again_and_again(self):
        self._lock_database()
        ended = subprocess.run([_PROGRAM, self.store, "0"], capture_output=True, text=True,
                               check=False, timeout=60)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("trials.sqlite", ended.stderr)
        self.assertIn("locked", ended.stderr)

    def test_a_second_signal_ends_a_server_that_opens_its_store(self):
        self._lock_database()
        # A signal that comes before the server handles it would end it, too.
        with subprocess.Popen([_PROGRAM, self.store, "0"], stderr=subprocess.PIPE,
                              text=True) as server:
            self.addCleanup(server.kill)
            status = pathlib.Path(f"/proc/{server.pid}/status")
            deadline = time.time() + 60
            while not int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> 14 & 1:
                self.assertLess(time.time(), deadline)
                time.sleep(0.01)
            server.terminate()
            # Signals of one number that are pending together are one.
            time.sleep(0.5)
            self.assertIsNone(server.poll())
            server.terminate()
            self.assertEqual(server.wait(timeout=60), -signal.SIGTERM)

    def _await_running(self, server, identity):
        deadline = time.time() + 60
        while server.ask("GET", f"/v1/trials/{identity}")[1]["trial"]["state"] != "running":
            self.assertLess(time.time(), deadline)
            time.sleep(0.01)

    def test_a_signal_ends_what_unpacks_and_the_trial_waits(self):
        server = _Server(self.store)
        identity = server.submit(b"endless one")[1]["trial"]["id"]
        self._await_running(server, identity)
        self.assertEqual(server.end(), 0)
        server = _Server(self.store, server.token)
        self._await_running(server, identity)
        self.assertEqual(server.end(), 0)

    def test_a_signal_does_not_wait_for_slow_clients(self):
        server = _Server(self.store)
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        for each in slow:
            self.addCleanup(each.close)
            each.sendall(b"GET /v1/health HTTP/1.1\r\nName: ")
        self.assertEqual(server.ask("GET", "/v1/health")[0], 200)
        begin = time.time()
        self.assertEqual(server.end(), 0)
        self.assertLess(time.time() - begin, 8)

    def test_an_empty_database_beside_bundles_is_refused_and_they_stay(self):
        server = _Server(self.store)
        self.assertEqual(server.submit(b"accept this")[0], 202)
        self.assertEqual(server.end(), 0)
        bundles = list(pathlib.Path(self.store).glob("bundles/*/*"))
        self.assertEqual(len(bundles), 1)
        database = pathlib.Path(self.store, "trials.sqlite")
        for damage in (lambda: os.truncate(database, 0), database.unlink):
            damage()
            with self.assertRaisesRegex(RuntimeError, "the database is missing or empty"):
                _Server(self.store)
            self.assertEqual(list(pathlib.Path(self.store).glob("bundles/*/*")), bundles)

    def test_a_backup_is_a_store_with_its_tokens_and_its_audit_log(self):
        server = _Server(self.store)
        token = server.token
        trial = server.submit(b"accept this")[1]["trial"]
        status, answer = server.ask("POST", "/v1/backups")
        self.assertEqual(status, 201)
        backup = pathlib.Path(answer["backup"])
        self.assertEqual(server.submit(b"accept later")[0], 202)
        self.assertEqual(server.end(), 0)
        entries = [json.loads(line) for line in
                   (backup / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual([entry["action"] for entry in entries], ["submit", "backup"])
        # The token's text was printed once, and is not in the backup.
        for path in backup.rglob("*"):
            self.assertFalse(path.is_file() and token.encode() in path.read_bytes(), path)
        server = _Server(str(backup), token)
        self.assertEqual(server.ask("GET", f"/v1/trials/{trial['id']}")[0], 200)
        self.assertEqual(server.submit(b"accept later")[0], 202)
        self.assertEqual(server.end(), 0)

    def test_tokens_of_ci_are_taken_and_others_refused(self):
        for name in ("oidc.textproto", "github.jwks", "gitlab.jwks"):
            shutil.copy(_OIDC / name, self._folder.name)
        server = _Server(self.store, oidc=[self._folder.name + "/oidc.textproto"])
        own = server.token
        with open(_OIDC / "tokens.txt", encoding="utf-8") as lines:
            tokens = dict(line.rstrip("\n").split("\t") for line in lines)
        # This one does not expire before 2100.
        server.token = tokens["github_long"]
        status, answer = server.submit(b"accept of CI")
        self.assertEqual(status, 202)
        self.assertEqual(answer["trial"]["submitter"], "team")
        self.assertEqual(server.ask("POST", "/v1/backups")[0], 403)
        audit = pathlib.Path(self.store, "audit.jsonl").read_text(encoding="utf-8")
        self.assertIn('"subject":"repo:team/models:ref:refs/heads/main"', audit)
        # The label of another identity is not the job's.
        path = "/v1/trials?deployment=//releases:x&sha256=" + "0" * 64
        self.assertEqual(server.ask("POST", path)[0], 403)
        for name, token in tokens.items():
            server.token = token
            wanted = 202 if name == "github_long" else 401
            bundle = b"accept of CI" if wanted == 202 else name.encode()
            status, answer = server.submit(bundle)
            self.assertIn(status, (200, 202) if wanted == 202 else (401,), (name, answer))
        server.token = tokens["github"]
        self.assertIn("expired at", server.submit(b"late")[1]["error"]["message"])
        # A header of 10 MB is refused before it is read.
        server.token = tokens["github_long"] + "A" * (10 << 20)
        self.assertIn(server.ask("GET", "/v1/trials")[0], (431, None))
        # Keys that the issuer has replaced count at once.
        server.token = tokens["github_long"]
        shutil.copy(_OIDC / "gitlab.jwks", self._folder.name + "/new")
        os.replace(self._folder.name + "/new", self._folder.name + "/github.jwks")
        status, answer = server.submit(b"accept later")
        self.assertEqual(status, 401)
        self.assertIn("has no key 'key-1'", answer["error"]["message"])
        server.token = own
        self.assertEqual(server.ask("GET", "/v1/health")[0], 200)
        self.assertEqual(server.end(), 0)

    def test_a_port_in_use_is_named(self):
        server = _Server(self.store)
        other = subprocess.run([_PROGRAM, self.store + "2", str(server.port)],
                               capture_output=True, text=True, check=False)
        self.assertEqual(other.returncode, 2)
        self.assertIn(f"cannot listen at 127.0.0.1:{server.port}", other.stderr)
        self.assertEqual(server.end(), 0)

    def test_what_runs_is_waited_for_and_what_waits_stays(self):
        server = _Server(self.store)
        token = server.token
        trials = [server.submit(f"slow {i}".encode())[1]["trial"] for i in range(3)]
        self._await_running(server, trials[0]["id"])
        self.assertEqual(server.end(), 0)
        server = _Server(self.store, token)
        states = [server.ask("GET", f"/v1/trials/{trial['id']}")[1]["trial"]["state"]
                  for trial in trials]
        self.assertEqual(states[0], "decided")
        self.assertIn(states[2], ("waiting", "running"))
        server.end(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
