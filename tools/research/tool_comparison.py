"""memprof beside other memory profilers: error and cost on programs of a known peak.

    tool_comparison.py MEMPROF KNOWN_PEAK_PROGRAM [ROUNDS]

Error: a tool's peak less what it says of a program that holds nothing, against the bytes
that the program holds by construction. Site: the same of the one function that holds them.
Cost: the processor time of a run with all its children, over the program's own on glibc's
malloc (memprof: also over the same jemalloc); the commands run in turn, the median of the
rounds counts. Tools that are not there are named.
"""

import collections
import glob
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
PROGRAMS = collections.OrderedDict([
    ("hold", 1000 * 10248), ("spike", 4000 * 10248), ("small 2", 400000 * 120),
    ("threads", 2000 * 10248)])
UNITS = {"": 1, "B": 1, "K": 1e3, "M": 1e6, "G": 1e9}


def run(command, environment=None):
    """The processor time of the command and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command, env=dict(os.environ, **(environment or {})),
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        raise SystemExit("%s ended with status %d" % (command, status))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memprof(folder, sampling, memprof_path, command):
    report = os.path.join(folder, "run.json")
    spent_s = run([memprof_path, "--sampling=" + sampling, "--json=" + report] + command)
    with open(report) as file:
        process = json.load(file)["processes"][0]
    sites = [site["at_peak_bytes"] for site in process.get("sites", [])
             if site["kind"] == "NATIVE"]
    return spent_s, process["peak_live_bytes"], max(sites, default=None)


def heaptrack(folder, command):
    data = os.path.join(folder, "heaptrack")
    spent_s = run(["heaptrack", "--output", data] + command)
    text = subprocess.run(["heaptrack_print", glob.glob(data + "*")[0]], check=True,
                          capture_output=True, text=True).stdout
    peak = re.search(r"peak heap memory consumption: ([\d.]+)([BKMG]?)", text)
    site = re.search(r"^([\d.]+)([BKMG]?) peak memory consumed over", text, re.MULTILINE)
    return (spent_s, float(peak[1]) * UNITS[peak[2]],
            float(site[1]) * UNITS[site[2]] if site else None)


def massif(folder, command):
    data = os.path.join(folder, "massif")
    spent_s = run(["valgrind", "--tool=massif", "--peak-inaccuracy=0.0",
                   "--massif-out-file=" + data] + command)
    with open(data) as file:
        text = file.read()
    peak = max(int(value) for value in re.findall(r"^mem_heap_B=(\d+)", text, re.MULTILINE))
    return spent_s, peak, None


def dhat(folder, command):
    data = os.path.join(folder, "dhat")
    spent_s = run(["valgrind", "--tool=dhat", "--dhat-out-file=" + data] + command)
    with open(data) as file:
        points = json.load(file)["pps"]
    at_peak = [point.get("gb", 0) for point in points]
    return spent_s, sum(at_peak), max(at_peak, default=None)


def gperftools(folder, command):
    prefix = os.path.join(folder, "gperftools")
    spent_s = run(command, {"LD_PRELOAD": TCMALLOC, "HEAPPROFILE": prefix,
                            "HEAP_PROFILE_INUSE_INTERVAL": "1048576"})
    peak = 0
    site = 0
    for path in glob.glob(prefix + ".*.heap"):
        with open(path, errors="replace") as file:
            lines = file.read().splitlines()
        in_use = int(re.search(r"\d+:\s+(\d+) \[", lines[0])[1])
        if in_use >= peak:
            peak = in_use
            site = max((int(found[1]) for found in
                        (re.match(r"\s*\d+:\s+(\d+) \[.*@ 0x", line) for line in lines[1:])
                        if found), default=0)
    return spent_s, peak, site


def bare(folder, command):
    return run(command), None, None


def bare_jemalloc(folder, command):
    return run(command, {"LD_PRELOAD": JEMALLOC}), None, None


def tools(memprof_path):
    """(name, function, what is missing to run it, or nothing)"""
    def of_memprof(sampling):
        return lambda folder, command: memprof(folder, sampling, memprof_path, command)

    def missing(*names):
        return ", ".join("no program %s on the PATH" % name for name in names
                         if shutil.which(name) is None)

    def missing_file(path):
        return "" if os.path.exists(path) else "no file %s" % path

    return [
        ("alone", bare, ""),
        ("alone, on jemalloc", bare_jemalloc, missing_file(JEMALLOC)),
        ("memprof, peak alone", of_memprof("none"), ""),
        ("memprof, sites sampled", of_memprof("512KiB"), ""),
        ("memprof, each allocation", of_memprof("0"), ""),
        ("heaptrack", heaptrack, missing("heaptrack", "heaptrack_print")),
        ("massif", massif, missing("valgrind")),
        ("DHAT", dhat, missing("valgrind")),
        ("gperftools, each MiB", gperftools, missing_file(TCMALLOC)),
    ]


def difference(found, base, true_bytes):
    if found is None:
        return "-"
    error = found - (base or 0) - true_bytes
    if error == 0:
        return "0"
    return "%+.2g %%" % (100 * error / true_bytes)


def main():
    memprof_path, program = (os.path.abspath(path) for path in sys.argv[1:3])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    here = [tool for tool in tools(memprof_path) if not tool[2]]
    results = collections.defaultdict(list)
    for number in range(rounds):
        for name, function, _ in here:
            # The slow ones are as slow each time.
            if number >= 3 and name in ("massif", "DHAT", "gperftools, each MiB"):
                continue
            for mode in ["none"] + list(PROGRAMS):
                with tempfile.TemporaryDirectory() as folder:
                    results[name, mode].append(function(folder, [program] + mode.split()))
    print("| tool | " + " | ".join(
        "%s: error, of the site, cost" % mode for mode in PROGRAMS) + " |")
    print("|---" * (len(PROGRAMS) + 1) + "|")
    for name, _, why in tools(memprof_path):
        if why:
            print("| %s | SKIPPED: %s |" % (name, why))
            continue
        cells = []
        for mode, true_bytes in PROGRAMS.items():
            times = [result[0] for result in results[name, mode]]
            bare_times = [result[0] for result in results["alone", mode]]
            _, peak, site = results[name, mode][-1]
            _, base, _ = results[name, "none"][-1]
            cells.append("%s, %s, %.2f" % (
                difference(peak, base, true_bytes), difference(site, 0, true_bytes),
                statistics.median(times) / statistics.median(bare_times)))
        print("| %s | %s |" % (name, " | ".join(cells)))
    print("\nAlone, in seconds of processor time: " + ", ".join(
        "%s %.3f" % (mode, statistics.median(result[0] for result in results["alone", mode]))
        for mode in PROGRAMS) + ". %d rounds; the load of the machine was %.1f." % (
            rounds, os.getloadavg()[1]))


if __name__ == "__main__":
    main()
