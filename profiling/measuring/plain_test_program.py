"""Holds --bytes=N, and behaves as --do= says."""

import os
import sys

flags = dict(word[2:].split("=", 1) for word in sys.argv[1:])
held = bytearray(int(flags["bytes"]))
do = flags["do"]
if do == "vary":
    count = int.from_bytes(os.urandom(2), "little")
    blocks = [bytearray(64) for _ in range(count)]
elif do == "read":
    with open("in put/rows.csv", "rb") as file:
        held = file.read()
elif do == "exit3":
    sys.exit("no luck")
elif do == "kill":
    os.kill(os.getpid(), 9)
elif do == "threads":
    import threading
    both_run = threading.Barrier(2)
    threads = [threading.Thread(target=both_run.wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
elif do == "fork":
    if os.fork() == 0:
        largest = bytearray(3 * int(flags["bytes"]))
        os._exit(0)
    os.wait()
print(len(held))
