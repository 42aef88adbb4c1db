"""Runs trials through Slurm: this machine plays three hosts, of which one dies.

    bazel test -c opt --test_output=all //gates/engine:slurm_test

Each trial has one verdict, which is that of a local trial, and the throughput is compared
with that of local trials. Needs root, the sandbox's mechanisms, and Debian's slurm-wlm and
munge; prints SKIPPED and why if one is missing. FOOTPRINT_TRIALS is the number of trials
(default: 60), and FOOTPRINT_TRIAL_SECONDS the processor time of each of the runs of a trial (default: 0.3).
"""

import hashlib
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

_PROGRAMS = pathlib.Path(__file__).parent.parent / "programs"
_TEMPLATE = pathlib.Path(__file__).parent / "templates" / "slurm.sh"
_TRIALS = int(os.environ.get("FOOTPRINT_TRIALS", "60"))
_SECONDS = float(os.environ.get("FOOTPRINT_TRIAL_SECONDS", "0.3"))
_HOSTS = ("n1", "n2", "n3")
_CONFIGURATION = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldLogFile={folder}/slurmctld.log
SlurmdTimeout=10
ReturnToService=2
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_MANIFEST = """# proto-file: gates/bundles/bundle.proto
# proto-message: footprint.BundleManifest
schema_version: 1
kind: PYTHON_SCRIPT
entry: "main.py"
budget_bytes: %d
time_limit_seconds: 60
"""
_SCRIPT = """import time
number = %d
end = time.process_time() + %f
while time.process_time() < end:
    pass
raise SystemExit(%d)
"""
_KINDS = (("ACCEPT", 256 << 20, 0), ("REJECT", 1 << 20, 0), ("PRODUCER_FAILED", 256 << 20, 3))


def find_missing():
    """Returns what this machine lacks for the test, or an empty text."""
    if os.geteuid() != 0:
        return "it starts Slurm's daemons as root"
    for program in ("slurmctld", "slurmd", "srun", "munged"):
        if not shutil.which(program):
            return f"there is no {program}: apt-get install slurm-wlm munge"
    host = subprocess.run([_PROGRAMS / "try_main", "--host"], stdout=subprocess.PIPE, text=True,
                          check=False)
    return host.stdout if host.returncode != 0 else ""


class Cluster:
    """Three hosts of Slurm on this machine."""

    def __init__(self, folder):
        self._folder = folder
        host = os.uname().nodename.split(".")[0]
        lines = [_CONFIGURATION.format(host=host, folder=folder)]
        for number, name in enumerate(_HOSTS, start=1):
            lines.append(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 "
                         f"Port={17000 + number} CPUs=2 RealMemory=4000\n")
            (folder / f"spool.{name}").mkdir()
        (folder / "state").mkdir()
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text("".join(lines), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(self.configuration)
        self._munge = _start_munge()
        subprocess.run(["slurmctld", "-c", "-f", self.configuration], check=True)
        for name in _HOSTS:
            self.start(name)
        self.await_idle(len(_HOSTS))

    def start(self, name):
        subprocess.run(["slurmd", "-N", name, "-f", self.configuration], check=True)

    def await_idle(self, count):
        for _ in range(150):
            idle = subprocess.run(["sinfo", "--noheader", "--states=idle", "--format=%D"],
                                  stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
            if idle == str(count):
                return
            time.sleep(0.2)
        raise RuntimeError(f"not {count} idle hosts; see {self._folder}/*.log")

    def kill_host(self, name):
        """Kills a host's daemon, and all processes of the jobs that run there."""
        _kill(int((self._folder / f"slurmd.{name}.pid").read_text(encoding="utf-8")))
        jobs = subprocess.run(["squeue", "--noheader", "--nodelist", name, "--format=%i"],
                              stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        steps = [process for process in pathlib.Path("/proc").glob("[0-9]*")
                 if any(_command_of(process).startswith(f"slurmstepd: [{job}.") for job in jobs)]
        for step in steps:
            # Its children first, which only the step could end otherwise.
            for child in _children_of(int(step.name)):
                _kill(child)
            _kill(int(step.name))
        return len(jobs)

    def stop(self):
        """Ends the daemons, and munged if this test started it."""
        processes = [int(path.read_text(encoding="utf-8"))
                     for path in self._folder.glob("slurm*.pid")]
        if self._munge:
            processes.append(self._munge)
        for process in processes:
            _kill(process, signal.SIGTERM)
        deadline = time.time() + 60
        while time.time() < deadline and any(
                pathlib.Path(f"/proc/{process}").exists() for process in processes):
            time.sleep(0.1)


def _kill(process, how=signal.SIGKILL):
    if process <= 1:
        raise ValueError(f"{process} is no process of this test")
    try:
        os.kill(process, how)
    except ProcessLookupError:
        pass


def _start_munge():
    """Starts munged if none answers. Returns its process, or None."""
    if subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0:
        return None
    subprocess.run(["install", "-d", "-o", "munge", "-g", "munge", "/run/munge"], check=True)
    subprocess.run(["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged"],
                   check=True)
    return int(pathlib.Path("/run/munge/munged.pid").read_text(encoding="ascii"))


def _command_of(process):
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _children_of(process):
    try:
        return [int(child) for child in pathlib.Path(
            f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def bundle_of(number):
    """Returns a bundle and the decision about it."""
    decision, budget, status = _KINDS[number % len(_KINDS)]
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, text in (("bundle.textproto", _MANIFEST % budget),
                           ("main.py", _SCRIPT % (number, _SECONDS, status))):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive.getvalue(), decision


class Server:

    def __init__(self, command, folder):
        folder.mkdir()
        environment = {**os.environ, "HOME": str(folder)}
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "BUILD_WORKING_DIRECTORY"):
            environment.pop(name, None)
        self.log = folder / "log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, "--unexplained", "--port=0", f"--store={folder}/store"],
                env=environment, stderr=log)
        deadline = time.time() + 60
        found = None
        while not found and time.time() < deadline and self.process.poll() is None:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", self.log.read_text(encoding="utf-8"))
            time.sleep(0.05)
        if not found:
            raise RuntimeError(self.log.read_text(encoding="utf-8"))
        self._port = int(found[1])
        self._token = (folder / ".config/footprint/token").read_text(encoding="utf-8").strip()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self._token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)


def run_all(server, at_a_third):
    """Tries all bundles. Returns the seconds and {bundle's number: decision}."""
    start = time.time()
    identities = {}
    for number in range(_TRIALS):
        bundle, _ = bundle_of(number)
        status, answer = server.ask(
            "POST", "/v1/trials?sha256=" + hashlib.sha256(bundle).hexdigest(), bundle)
        if status != 202:
            raise RuntimeError(f"{status} {answer}")
        identities[number] = answer["trial"]["id"]
    while True:
        _, health = server.ask("GET", "/v1/health")
        left = health["waiting"] + health["running"]
        if at_a_third and left < 2 * _TRIALS // 3:
            at_a_third()
            at_a_third = None
        if left == 0:
            break
        time.sleep(0.1)
    seconds = time.time() - start
    trials = {number: server.ask("GET", f"/v1/trials/{identity}")[1]["trial"]
              for number, identity in identities.items()}
    _, listed = server.ask("GET", "/v1/trials?most=500")
    if _TRIALS <= 500 and len(listed["trials"]) != _TRIALS:
        raise RuntimeError(f"{len(listed['trials'])} verdicts for {_TRIALS} trials")
    return seconds, trials


def write_engine(folder):
    """Returns the documented command, with the paths of this test."""
    (folder / "key").write_text("a key of enough bytes\n", encoding="utf-8")
    (folder / "bin").mkdir()
    for name, program in (("serve", "serve"), ("try", "try_main")):
        shutil.copy((_PROGRAMS / program).resolve(), folder / "bin" / name)
    os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"
    text = _TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("/etc/footprint/engine_key", str(folder / "key"))
    text = text.replace("/shared/footprint", str(folder / "shared"))
    (folder / "slurm.sh").write_text(text, encoding="utf-8")
    return ["sh", str(folder / "slurm.sh"), "--trials_at_once=6"]


def compare(folder, cluster):
    engine = write_engine(folder)
    local = Server([folder / "bin" / "serve"], folder / "local")
    local_seconds, local_trials = run_all(local, None)
    assert local.end() == 0
    remote = Server(engine, folder / "remote")
    whole_seconds, trials = run_all(remote, None)
    assert remote.end() == 0
    killed = []
    with_death = Server(engine, folder / "with_death")
    death_seconds, death_trials = run_all(
        with_death, lambda: killed.append(cluster.kill_host("n2")))
    assert with_death.end() == 0
    log = with_death.log.read_text(encoding="utf-8")
    for number in range(_TRIALS):
        _, expected = bundle_of(number)
        for name, each in (("local", local_trials), ("Slurm", trials),
                           ("Slurm with a death", death_trials)):
            if each[number]["decision"] != expected:
                raise RuntimeError(f"{name}: {each[number]}\n{log}")
        remarks = " ".join(trials[number]["remarks"])
        if "by the engine" not in remarks:
            raise RuntimeError(f"not by the engine: {trials[number]}")
    print(f"{_TRIALS} trials of {_SECONDS} s a run: local {local_seconds:.1f} s, Slurm "
          f"{whole_seconds:.1f} s ({local_seconds / whole_seconds:.2f} of local), with host n2 "
          f"killed {death_seconds:.1f} s; {killed[0]} jobs ran on it, {log.count('engine: trial')} "
          "attempts failed; each trial has one verdict, that of the local trial")


def main():
    missing = find_missing()
    if missing:
        print(f"SKIPPED slurm_test: {missing}")
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm_test-"))
    cluster = Cluster(folder)
    try:
        compare(folder, cluster)
    except BaseException:
        print(f"see {folder}", file=sys.stderr)
        raise
    finally:
        cluster.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
