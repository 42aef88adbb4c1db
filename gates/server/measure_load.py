"""Measures how many distinct bundles a second get verdicts, and the server's memory.

    measure_load.py COUNT [PORT TOKEN]

Starts a server whose trials end at once (bazel build -c opt //gates/server:serve_example),
or uses the one at PORT of this machine. In that case bundles are real, and each runs
`true`. Eight clients submit bundles, each one after another; at the end every verdict is
checked.
"""

import hashlib
import http.client
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import shell_bundle

_PROGRAM = pathlib.Path(__file__).parents[2] / "bazel-bin/gates/server/serve_example"
_CLIENTS = 8


def ask(port, token, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def metric(port, token, name):
    text = ask(port, token, "GET", "/v1/metrics")[1].decode()
    return int(next(line.split()[1] for line in text.splitlines()
                    if line.startswith(f"footprint_{name} ")))


def submit_all(port, token, bundles, refused):
    for bundle in bundles:
        path = "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest()
        while True:
            status, answer = ask(port, token, "POST", path, bundle)
            if status == 202:
                break
            if status not in (429, 503):
                raise RuntimeError(answer)
            refused.append(1)
            time.sleep(0.1)


def load(port, token, bundles):
    count = len(bundles)
    refused, begin, resident = [], time.time(), []
    kept_before = metric(port, token, "trials_kept")
    for part in range(10):
        sent = bundles[count * part // 10:count * (part + 1) // 10]
        threads = [threading.Thread(target=submit_all, args=(
            port, token, sent[i::_CLIENTS], refused)) for i in range(_CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        resident.append(metric(port, token, "resident_bytes"))
    while metric(port, token, "trials_kept") < kept_before + count:
        time.sleep(0.01)
    seconds = time.time() - begin
    print(f"{count} distinct bundles in {seconds:.1f} s: {count / seconds:.0f} verdicts a second, "
          f"{len(refused)} told to come again")
    print("resident KiB after each tenth:", *(each // 1024 for each in resident))


def main():
    count = int(sys.argv[1])
    if len(sys.argv) > 3:
        load(int(sys.argv[2]), sys.argv[3], [
            shell_bundle.make_shell_bundle("#!/bin/true\n", str(i), 64 << 20) for i in range(count)
        ])
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([_PROGRAM, folder + "/store", "0"], stdout=subprocess.PIPE,
                                  text=True)
        port, token = server.stdout.readline().split()
        load(int(port), token, [f"accept {i}".encode() for i in range(count)])
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
