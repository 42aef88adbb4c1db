"""Tests the server on a full disk: it answers clearly, loses nothing, and goes on.

The disk is a tmpfs in a mount namespace of the test.
"""

import hashlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

_PROGRAM = pathlib.Path(__file__).parent / "serve_example"
_DISK_BYTES = 4 << 20
_STORE_FULL = 507


class _Disk:
    """A mount namespace with a small file system, in which servers are started."""

    def __init__(self):
        self._holder = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f"mount -t tmpfs -o size={_DISK_BYTES} disk /mnt && echo mounted && exec sleep 600"],
            stdout=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != "mounted\n":
            raise RuntimeError("this test needs user namespaces that may mount a tmpfs")
        # The same folder, seen from outside the namespace.
        self.path = pathlib.Path(f"/proc/{self._holder.pid}/root/mnt")
        self._ballast = self.path / "ballast"

    def start(self, *command):
        return subprocess.Popen(
            ["nsenter", f"--target={self._holder.pid}", "--user", "--mount",
             "--preserve-credentials", "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def fill(self, leaving=0):
        with open(self._ballast, "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
            file.truncate(max(0, file.tell() - leaving))

    def free(self):
        self._ballast.unlink()

    def close(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stdout.close()


class _Server:

    def __init__(self, disk, token=None):
        self.process = disk.start(str(_PROGRAM.resolve()), "/mnt/store", "0")
        line = self.process.stdout.readline().split()
        if len(line) != 2:
            raise RuntimeError(self.process.stderr.read())
        self.port, self.token = int(line[0]), token or line[1]

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def submit(self, bundle):
        return self.ask("POST", "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest(), bundle)

    def await_verdict(self, identity):
        deadline = time.time() + 60
        while True:
            status, answer = self.ask("GET", f"/v1/trials/{identity}")
            if status != 200 or answer["trial"]["state"] == "decided":
                return status, answer
            if time.time() > deadline:
                raise RuntimeError(f"no verdict: {answer}")
            time.sleep(0.02)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


class FullDiskTest(unittest.TestCase):

    def setUp(self):
        self.disk = _Disk()
        self.addCleanup(self.disk.close)
        self.server = _Server(self.disk)
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.end())
        self.acknowledged = {}

    def _submit(self, bundle):
        """Submits a bundle, notes it if it is acknowledged, and returns the status."""
        status, answer = self.server.submit(bundle)
        if status in (200, 202):
            self.acknowledged[answer["trial"]["id"]] = bundle
        else:
            self.assertEqual(status, _STORE_FULL, answer)
            self.assertEqual(answer["error"]["code"], "store_full")
        return status

    def _check_acknowledged(self):
        for identity, bundle in self.acknowledged.items():
            status, answer = self.server.await_verdict(identity)
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["trial"]["decision"], "ACCEPT")
            self.assertEqual(answer["trial"]["remarks"],
                             ["of " + hashlib.sha256(bundle).hexdigest()])

    def test_a_large_upload_is_answered_and_not_reset(self):
        self.assertEqual(self._submit(b"accept first"), 202)
        self._check_acknowledged()
        self.disk.fill()
        # This is larger than the buffers of the sockets.
        status, answer = self.server.submit(b"accept " + os.urandom(16 << 20))
        self.assertEqual(status, _STORE_FULL)
        self.assertIn("free disk space", answer["error"]["message"])
        self.assertEqual(self.server.ask("GET", "/v1/health")[0], 200)
        self._check_acknowledged()
        self.disk.free()
        self.assertEqual(self._submit(b"accept " + os.urandom(1 << 20)), 202)
        self._check_acknowledged()
        self.assertEqual(self.server.end(), 0)

    def test_what_is_acknowledged_while_the_disk_fills_has_its_verdict(self):
        statuses = []
        for kilobytes in (256, 64, 16, 0):
            self.disk.fill(leaving=kilobytes << 10)
            statuses += [self._submit(b"accept " + os.urandom(9000)) for _ in range(40)]
        self.assertIn(202, statuses)
        self.assertIn(_STORE_FULL, statuses)
        self.disk.free()
        self.assertEqual(self._submit(b"accept the last"), 202)
        self._check_acknowledged()
        self.assertEqual(self.server.end(), 0)

    def test_a_trial_that_ran_meanwhile_is_not_run_to_its_end_in_vain(self):
        self.assertEqual(self._submit(b"slow one"), 202)
        self.disk.fill()
        time.sleep(8)  # longer than the most attempts: 3 of 2 s each
        self.disk.free()
        self._check_acknowledged()

    def test_a_server_killed_on_a_full_disk_loses_nothing(self):
        self.assertEqual(self._submit(b"accept before"), 202)
        self._check_acknowledged()
        self.disk.fill()
        self.assertEqual(self._submit(b"accept " + os.urandom(1 << 20)), _STORE_FULL)
        token = self.server.token
        self.server.end(signal.SIGKILL)
        self.disk.free()
        self.server = _Server(self.disk, token)
        self._check_acknowledged()
        # No part of an incomplete upload is left.
        bundles = [path for path in self.disk.path.glob("store/bundles/*/*")]
        self.assertEqual(len(bundles), 1, bundles)


if __name__ == "__main__":
    unittest.main()
