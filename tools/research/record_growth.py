"""The record of a program with a billion allocations, and the agent's own memory.

    record_growth.py MEMPROF PROGRAM [MILLIONS]

Runs PROGRAM under memprof at the default rate, looks at the folder of records all the
while, and sets the resident peak beside that of the same program on the same jemalloc
without the agent. Exit 1: the record is larger than 20 MB, or the agent's own memory
larger than 5 % of the program's peak and 2 MB.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
RECORD_LIMIT_BYTES = 20_000_000


def space_bytes(folder):
    """Bytes that the files below take on the disk, the agent's own code left out."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            if name == "agent.so":
                continue
            try:
                total += os.stat(os.path.join(path, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def run_alone(command):
    """The resident peak in bytes, and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=JEMALLOC), check=True,
                            capture_output=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(output), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(memprof, command):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.json")
        process = subprocess.Popen(
            [memprof, "--json=" + report] + command,
            env=dict(os.environ, TMPDIR=folder), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        largest = 0
        while process.poll() is None:
            largest = max(largest, space_bytes(folder))
            time.sleep(0.05)
        if process.returncode != 0:
            raise SystemExit("memprof ended with status %d" % process.returncode)
        with open(report) as file:
            run = json.load(file)
    return run, largest, int(process.stdout.read())


def main():
    memprof, program = (os.path.abspath(path) for path in sys.argv[1:3])
    millions = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    failed = False
    print("| allocations | peak heap | record | resident peak | without agent | agent's own | allowed |"
          " processor time, ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for count, slots in ((millions, 10_000), (4, 1_000_000)):
        command = [program, str(count), str(slots)]
        bare_bytes, bare_s = run_alone(command)
        run, record_bytes, resident_bytes = measure(memprof, command)
        process = run["processes"][0]
        own_bytes = resident_bytes - bare_bytes
        allowed_bytes = 0.05 * process["peak_live_bytes"] + 2_000_000
        spent_s = (run["user_time_ns"] + run["system_time_ns"]) * 1e-9
        print("| %.1e | %.2f MB | %.2f MB | %.2f MB | %.2f MB | %.2f MB | %.2f MB | %.2f |" % (
            process["allocation_count"], process["peak_live_bytes"] / 1e6, record_bytes / 1e6,
            resident_bytes / 1e6, bare_bytes / 1e6, own_bytes / 1e6,
            allowed_bytes / 1e6, spent_s / bare_s), flush=True)
        failed |= record_bytes > RECORD_LIMIT_BYTES or own_bytes > allowed_bytes
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
