"""The command with lowmem and with fake peers, of which each ends in its own way."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "lowmem/peers")
import peer_run  # noqa: E402
from memory_group import MemoryGroup  # noqa: E402

COMMAND = [sys.executable, "-B", "lowmem/peers/lowmem_peers.py"]
# The program of a fake peer, by its verdict.
FAKES = {
    "ran": 'print(\'{"tokens": 8, "seconds": 2}\')',
    "killed": "bytearray(300 << 20)",
    "no answer": "import time; time.sleep(60)",
    "error": "raise SystemExit('the model is <broken>')",
}


def missing_groups():
    """Returns why no control group can be made, or an empty text."""
    try:
        with MemoryGroup(64 << 20):
            return ""
    except OSError as error:
        return "no control group: %s" % error


def call(*arguments, **more):
    return subprocess.run(COMMAND + list(arguments), capture_output=True, text=True, check=False,
                          **more)


class CommandTest(unittest.TestCase):
    def setUp(self):
        # /var/tmp is on a disk; TEST_TMPDIR may be in memory.
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def adapter(self, name, program):
        """Writes an adapter that prints what the program prints; returns its flag."""
        path = self.folder / (name.replace(" ", "_") + ".py")
        path.write_text(program)
        return "--adapter=%s=%s" % (name, path)

    def fake(self, name, program):
        command = json.dumps({"version": "1", "command": [sys.executable, "-c", program]})
        return self.adapter(name, "print(%r)" % command)

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_help_teaches(self):
        result = call("--help")
        self.assertEqual(result.returncode, 0)
        for text in ("killed", "no answer", "absent", "apt-get install", "--adapter", "peers.html"):
            self.assertIn(text, result.stdout)

    def test_refuses_wrong_flags(self):
        for flag, said in (("--limits=64", "'64' is no limit"), ("--limits=0MiB", "is no limit"),
                           ("--limits=", "is no limit"), ("--limits=1MB", "for example 64MiB"),
                           ("--tokens=0", "is no number of at least 1"),
                           ("--seconds=-1", "is no number"), ("--adapter=alone", "NAME=FILE")):
            with self.subTest(flag):
                self.expect(call(flag), 2, said)

    def test_refuses_what_is_no_model(self):
        self.expect(call(str(self.folder)), 1, "has no config.json", "name a folder")
        (self.folder / "config.json").write_text("{")
        (self.folder / "model.safetensors").write_text("")
        self.expect(call(str(self.folder)), 1, "is not JSON")
        (self.folder / "config.json").write_text("[]")
        self.expect(call(str(self.folder)), 1, "no model_type")

    def test_refuses_peers_that_are_not_there(self):
        self.expect(call("--peers=lowmem,none"), 1, 'no peer "none"', "there are lowmem, llama.cpp")
        self.expect(call("--adapter=mine=%s/none.py" % self.folder), 1, "there is no adapter")

    def test_says_that_groups_need_root(self):
        if os.geteuid() != 0:
            self.skipTest("it gives root away")
        # Root imports the files, which the user may not be able to read.
        program = ("import os, sys; sys.path[:0] = ['lowmem/peers']; import lowmem_peers; "
                   "os.setgid(65534); os.setuid(65534); lowmem_peers.check_groups([64 << 20])")
        result = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True,
                                text=True, check=False)
        self.assertIn("no control group can be made", result.stderr)
        self.assertIn("run it as root", result.stderr)

    @unittest.skipIf(missing_groups(), missing_groups())
    def test_refuses_folders_that_cannot_be_written(self):
        for flag in ("--output", "--work"):
            self.expect(call(flag + "=/proc/none"), 1, flag + "=/proc/none cannot be written",
                        "name another folder")

    @unittest.skipIf(missing_groups(), missing_groups())
    def test_refuses_a_folder_in_memory(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            self.expect(call("--work=" + folder, "--output=%s" % self.folder), 1,
                        "lies in memory", "name a folder on a disk")

    def test_writes_no_other_json_as_a_table(self):
        path = self.folder / "peers.json"
        for arguments, code, said in (
                (["text", str(path)], 1, "peers.json"), (["pdf", str(path)], 2, 'no format "pdf"'),
                (["text"], 2, "takes a format and one file")):
            for content in ("{}", "no JSON"):
                path.write_text(content)
                self.expect(subprocess.run(
                    ["lowmem/peers/write_peers_table", *arguments], capture_output=True,
                    text=True, check=False), code, said)

    @unittest.skipIf(missing_groups(), missing_groups())
    def test_refuses_shapes_that_are_not_there(self):
        self.expect(call("--shapes=none", "--output=%s/out" % self.folder), 1, "--shapes=none: ", "none")

    @unittest.skipIf(missing_groups(), missing_groups())
    def test_has_a_row_for_each_peer_and_an_end_for_each_run(self):
        output = self.folder / "out"
        flags = [self.fake(name, program) for name, program in FAKES.items()]
        flags.append(self.adapter(
            "absent", "print('{\"missing\": \"no engine here\", \"install\": \"apt-get it\"}')"))
        flags.append(self.adapter("broken", "print('no JSON'); raise SystemExit('a fault')"))
        names = ["lowmem", *FAKES, "absent", "broken"]
        result = call("--shapes=minilm:--layers=1,gpt2:--layers=1:--vocabulary=500",
                      "--limits=64MiB,32MiB", "--tokens=3", "--encoder_tokens=5", "--seconds=5",
                      "--work=%s" % self.folder, "--output=%s" % output,
                      "--peers=" + ",".join(names), *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        table = json.loads((output / "peers.json").read_text())
        self.assertEqual([m["kind"] for m in table["models"]], ["encoder", "decoder"])
        for model in table["models"]:
            rows = {row["peer"]: row for row in model["peers"]}
            self.assertEqual(list(rows), names)
            for name in ("lowmem", *FAKES):
                runs = rows[name]["runs"]
                self.assertEqual([r["limit_bytes"] >> 20 for r in runs], [64, 32])
                verdict = "ran" if name == "lowmem" else name
                self.assertEqual([r["verdict"] for r in runs], [verdict] * 2, runs)
            for run in rows["lowmem"]["runs"]:
                self.assertEqual(run["tokens"], 5 if model["kind"] == "encoder" else 3)
                self.assertLessEqual(run["peak_bytes"], run["limit_bytes"])
            self.assertEqual(rows["error"]["runs"][0]["detail"],
                             "exit status 1: the model is <broken>")
            self.assertEqual((rows["absent"]["missing"], rows["absent"]["runs"]),
                             ("no engine here", []))
            self.assertIn("a fault", rows["broken"]["missing"])
        self.check_outputs(output, result)

    def check_outputs(self, output, result):
        for name in ("lowmem", *FAKES, "absent"):
            self.assertIn(name, result.stdout)
        self.assertIn("absent is absent: no engine here; next step: apt-get it", result.stdout)
        self.assertIn("minilm in 64 MiB: killed: killed", result.stderr)
        page = (output / "peers.html").read_text()
        for text in ("the model is &lt;broken&gt;", "apt-get it", "Linux ", "processor",
                     "//lowmem:lowmem_peers", "no answer"):
            self.assertIn(text, page)
        self.assertNotIn("<broken>", page)
        self.assertIn("<svg", (output / "peers.svg").read_text())
        # Neither a model nor a control group is left.
        self.assertEqual(list(self.folder.glob("lowmem_peers.*")), [])

    @unittest.skipIf(missing_groups(), missing_groups())
    def test_takes_a_folder_relative_to_where_it_was_typed(self):
        model = self.folder / "model"
        subprocess.run(["lowmem/programs/lowmem_generate", "--shape=minilm", "--layers=1",
                        str(model)], check=True, stderr=subprocess.DEVNULL)
        result = call("model", "--limits=32MiB", "--peers=lowmem", "--output=here",
                      "--work=.", "--encoder_tokens=4",
                      env={**os.environ, "BUILD_WORKING_DIRECTORY": str(self.folder)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "here" / "peers.html").exists())
        # The model itself stays as it was.
        self.assertEqual(sorted(p.name for p in model.iterdir()),
                         ["config.json", "model.safetensors"])


if __name__ == "__main__":
    unittest.main()
