"""Tests the templates of jobs: their fields, and their scripts with a program in the
scheduler's place that runs the job here."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import yaml

_TEMPLATES = pathlib.Path(__file__).parent / "templates"
# The placeholders that engine_command.cc knows.
_PLACEHOLDERS = {"bundle", "limit", "order", "result", "seconds", "trial"}
_VALUES = {"bundle": "/shared/1/bundle", "limit": "256", "order": "/shared/1/order",
           "result": "/shared/1/result", "seconds": "615", "trial": "0123456789abcdef-00112233"}
# The fields of batch/v1 Job (Kubernetes 1.31) and of Nomad's JSON jobs that a template may
# use, as paths; a list's entries have no part of their own.
_FIELDS = {
    "kubernetes_job.yaml": {
        "apiVersion": str, "kind": str, "metadata.name": str,
        "spec.backoffLimit": int, "spec.ttlSecondsAfterFinished": int,
        "spec.template.spec.restartPolicy": str,
        "spec.template.spec.activeDeadlineSeconds": int,
        "spec.template.spec.containers.name": str,
        "spec.template.spec.containers.image": str,
        "spec.template.spec.containers.command": str,
        "spec.template.spec.containers.resources.requests.memory": str,
        "spec.template.spec.containers.resources.requests.cpu": str,
        "spec.template.spec.containers.resources.limits.memory": str,
        "spec.template.spec.containers.securityContext.privileged": bool,
        "spec.template.spec.containers.volumeMounts.name": str,
        "spec.template.spec.containers.volumeMounts.mountPath": str,
        "spec.template.spec.containers.volumeMounts.readOnly": bool,
        "spec.template.spec.volumes.name": str,
        "spec.template.spec.volumes.persistentVolumeClaim.claimName": str,
        "spec.template.spec.volumes.secret.secretName": str,
    },
    "nomad_job.json": {
        "Job.ID": str, "Job.Name": str, "Job.Type": str, "Job.Datacenters": str,
        "Job.TaskGroups.Name": str, "Job.TaskGroups.Count": int,
        "Job.TaskGroups.RestartPolicy.Attempts": int,
        "Job.TaskGroups.RestartPolicy.Mode": str,
        "Job.TaskGroups.ReschedulePolicy.Attempts": int,
        "Job.TaskGroups.ReschedulePolicy.Unlimited": bool,
        "Job.TaskGroups.Tasks.Name": str, "Job.TaskGroups.Tasks.Driver": str,
        "Job.TaskGroups.Tasks.Config.command": str,
        "Job.TaskGroups.Tasks.Config.args": str,
        "Job.TaskGroups.Tasks.Resources.CPU": int,
        "Job.TaskGroups.Tasks.Resources.MemoryMB": int,
    },
}
# Plays kubectl and nomad: runs the job here, keeps its status, and logs what it was asked.
_SCHEDULER = """
import json, os, pathlib, subprocess, sys
import yaml
state = pathlib.Path(os.environ["STATE"])
with open(state / "asked", "a") as asked:
    asked.write(" ".join(sys.argv[1:]) + "\\n")
verb = " ".join(sys.argv[2:4]) if sys.argv[1] == "nomad" else sys.argv[2]
if verb in ("create", "job run"):
    job = yaml.safe_load(sys.stdin.read())
    if sys.argv[1] == "nomad":
        config = job["Job"]["TaskGroups"][0]["Tasks"][0]["Config"]
        words = [config["command"]] + config["args"]
    else:
        words = job["spec"]["template"]["spec"]["containers"][0]["command"]
    ended = subprocess.run(words).returncode
    (state / "ended").write_text(str(ended))
elif verb in ("get", "job inspect"):
    ended = (state / "ended").read_text() if not (state / "hangs").exists() else ""
    if sys.argv[1] == "nomad":
        print("dead" if ended else "running")
    else:
        print({"": ":", "0": "1:"}.get(ended, ":1"))
"""
_TRY = """#!/bin/sh
printf '%s\n' "$@" > "$STATE/words"
[ ! -e "$STATE/fails" ] || { echo "no node" >&2; exit 1; }
for word in "$@"; do
  case $word in --result=*) echo done > "${word#--result=}" ;; esac
done
"""


def fill(name, values):
    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{%s}" % key, value)
    return text


def leaves(node, path=""):
    """Yields (path, value) of everything that is neither a list nor a mapping."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, f"{path}.{key}".lstrip("."))
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, path)
    else:
        yield path, node


class TemplatesTest(unittest.TestCase):

    def test_each_template_has_each_placeholder_and_no_other(self):
        for name in _FIELDS:
            text = (_TEMPLATES / name).read_text(encoding="utf-8")
            self.assertEqual(set(re.findall(r"\{([a-z_]+)\}", text)), _PLACEHOLDERS, name)

    def test_each_field_is_one_of_the_scheduler_with_its_type(self):
        for name, fields in _FIELDS.items():
            parse = json.loads if name.endswith(".json") else yaml.safe_load
            found = dict(leaves(parse(fill(name, _VALUES))))
            self.assertEqual({path: type(value) for path, value in found.items()}, fields, name)

    def test_the_values_arrive_where_they_belong(self):
        job = yaml.safe_load(fill("kubernetes_job.yaml", _VALUES))
        # Names in Kubernetes have at most 63 characters.
        self.assertRegex(job["metadata"]["name"], r"\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])\Z")
        container = job["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["resources"]["limits"], {"memory": "256Mi"})
        self.assertIn("--result=/shared/1/result", container["command"])
        job = json.loads(fill("nomad_job.json", _VALUES))
        task = job["Job"]["TaskGroups"][0]["Tasks"][0]
        self.assertEqual(task["Resources"]["MemoryMB"], 256)
        self.assertEqual(task["Config"]["args"][:2], ["615", "try"])


class SlurmTest(unittest.TestCase):

    def test_the_server_gets_one_command_with_each_placeholder(self):
        with tempfile.TemporaryDirectory() as folder:
            serve = pathlib.Path(folder) / "serve"
            serve.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n', encoding="utf-8")
            serve.chmod(0o755)
            words = subprocess.run(
                ["sh", _TEMPLATES / "slurm.sh", "--port=0"], stdout=subprocess.PIPE, text=True,
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                check=True).stdout.split("\0")[:-1]
        engines = [word for word in words if word.startswith("--engine=")]
        self.assertEqual(len(engines), 1)
        self.assertEqual(set(re.findall(r"\{([a-z_]+)\}", engines[0])), _PLACEHOLDERS)
        self.assertEqual(words[-1], "--port=0")


class ScriptsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "scheduler.py").write_text(_SCHEDULER, encoding="utf-8")
        for name in ("kubectl", "nomad"):
            self._write(name, f'#!/bin/sh\nexec {sys.executable} {self.folder}/scheduler.py '
                        f'{name} "$@"\n')
        self._write("try", _TRY)
        self.environment = {**os.environ, "STATE": folder.name,
                            "PATH": f"{folder.name}:{os.environ['PATH']}"}

    def _write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def _start(self, script):
        return subprocess.Popen(
            ["sh", _TEMPLATES / script, "trial-1", "256", "615", f"{self.folder}/bundle",
             f"{self.folder}/order", f"{self.folder}/result"],
            env=self.environment, stderr=subprocess.PIPE, text=True)

    def _check_end(self, process, status):
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, error)
        asked = (self.folder / "asked").read_text(encoding="utf-8").splitlines()
        self.assertRegex(asked[-1], r"delete job footprint-trial-1|stop .*footprint-trial-1")
        return error

    def test_the_script_ends_after_the_job_and_removes_it(self):
        for script in ("kubernetes.sh", "nomad.sh"):
            with self.subTest(script):
                self._check_end(self._start(script), 0)
                self.assertEqual((self.folder / "result").read_text(encoding="utf-8"), "done\n")
                words = (self.folder / "words").read_text(encoding="utf-8").splitlines()
                self.assertEqual(words, [f"--bundle={self.folder}/bundle",
                                         f"--order={self.folder}/order",
                                         f"--result={self.folder}/result",
                                         "--key=/etc/footprint/engine_key"])
                (self.folder / "result").unlink()

    def test_a_job_that_fails_is_removed_and_leaves_no_result(self):
        (self.folder / "fails").touch()
        for script, status in (("kubernetes.sh", 1), ("nomad.sh", 0)):
            with self.subTest(script):
                self._check_end(self._start(script), status)
                self.assertFalse((self.folder / "result").exists())

    def test_a_signal_removes_the_job(self):
        (self.folder / "hangs").touch()
        for script in ("kubernetes.sh", "nomad.sh"):
            with self.subTest(script):
                process = self._start(script)
                deadline = time.time() + 60
                while not (self.folder / "ended").exists() and time.time() < deadline:
                    time.sleep(0.02)
                process.send_signal(signal.SIGTERM)
                self._check_end(process, 143)
                (self.folder / "ended").unlink()

    def test_the_wrong_number_of_words_is_explained(self):
        for script in ("kubernetes.sh", "nomad.sh"):
            ended = subprocess.run(["sh", _TEMPLATES / script, "one"], env=self.environment,
                                   capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2)
            self.assertIn("{trial} {limit}", ended.stderr)


if __name__ == "__main__":
    unittest.main()
