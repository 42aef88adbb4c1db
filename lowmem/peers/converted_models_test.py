"""The weights in the peers' formats are the same model: outputs equal those of lowmem.

The graph of onnxruntime needs onnxruntime, here or in the folder that FOOTPRINT_SID names
(--test_env=FOOTPRINT_SID=...), and its tests are skipped by name without it.
"""

import argparse
import array
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "lowmem/peers")
import onnx_of_checkpoint  # noqa: E402
import peer_adapter  # noqa: E402

PROGRAMS = "lowmem/programs"
IDS = [5, 17, 250, 3, 99]
# Runs the graph, for a GPT-2 in two calls, and prints its output as floats.
RUN_GRAPH = """
import json, sys, numpy, onnxruntime
graph, ids = sys.argv[1], numpy.array(json.loads(sys.argv[2]))
session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
inputs = {i.name: i for i in session.get_inputs()}
if "types" in inputs:
    feed = {"ids": ids, "positions": numpy.arange(len(ids)), "types": numpy.zeros_like(ids)}
    result = session.run(None, feed)[0]
else:
    past = {n: numpy.zeros((i.shape[0], 0, i.shape[2]), numpy.float32)
            for n, i in inputs.items() if n.startswith("past")}
    for begin, end in ((0, 3), (3, len(ids))):
        mask = numpy.triu(numpy.full((end - begin, end), -numpy.inf, numpy.float32), begin + 1)
        feed = {"ids": ids[begin:end], "positions": numpy.arange(begin, end), "mask": mask}
        logits, *present = session.run(None, {**feed, **past})
        past = dict(zip(past, present))
    result = logits[-1]
json.dump(result.flatten().tolist(), sys.stdout)
"""


def generate(shape, folder):
    subprocess.run(
        [PROGRAMS + "/lowmem_generate", "--shape=" + shape, "--layers=2", "--hidden=96",
         "--heads=4", "--intermediate=384", "--vocabulary=300", "--positions=32", folder],
        check=True, stderr=subprocess.DEVNULL)


class ConvertedModelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.folder + "/model"

    def run_lowmem(self, model):
        path = self.folder + "/output"
        subprocess.run(
            [PROGRAMS + "/lowmem_run", model, "--ids=" + ",".join(map(str, IDS)), "--force",
             "--output=" + path], check=True, stdout=subprocess.DEVNULL)
        values = array.array("f")
        values.frombytes(pathlib.Path(path).read_bytes())
        return values

    def expect_near(self, values, expected):
        self.assertEqual(len(values), len(expected))
        largest = max(map(abs, expected))
        self.assertGreater(largest, 0.1)
        error = max(abs(a - b) for a, b in zip(values, expected))
        self.assertLess(error, 2e-5 * largest)

    def test_gguf_of_a_gpt2(self):
        generate("gpt2", self.model)
        subprocess.run([sys.executable, "-B", PROGRAMS + "/gguf_of_checkpoint.py", self.model,
                        self.folder + "/model.gguf"], check=True)
        self.expect_near(self.run_lowmem(self.folder + "/model.gguf"),
                         self.run_lowmem(self.model))

    def test_gguf_of_another_family_is_refused(self):
        generate("minilm", self.model)
        config = pathlib.Path(self.model, "config.json")
        config.write_text(config.read_text().replace('"bert"', '"t5"'))
        done = subprocess.run([sys.executable, "-B", PROGRAMS + "/gguf_of_checkpoint.py",
                               self.model, self.folder + "/model.gguf"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there are llama, gpt2 and bert", done.stderr)

    def check_graph(self, shape):
        place, _ = peer_adapter.find_python(
            argparse.Namespace(model=self.folder, work=self.folder), ["numpy", "onnxruntime"], "1")
        if place is None:
            self.skipTest("no Python here has onnxruntime")
        generate(shape, self.model)
        os.link(self.model + "/model.safetensors", self.folder + "/model.safetensors")
        onnx_of_checkpoint.write(self.model, self.folder + "/model.onnx")
        done = subprocess.run(
            place.command(["/usr/bin/python3", "-c", RUN_GRAPH, place.work + "/model.onnx",
                           str(IDS)]), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_near(json.loads(done.stdout), self.run_lowmem(self.model))

    def test_graph_of_a_bert(self):
        self.check_graph("minilm")

    def test_graph_of_a_gpt2(self):
        self.check_graph("gpt2")

    def test_graph_of_another_family_is_refused(self):
        generate("minilm", self.model)
        config = pathlib.Path(self.model, "config.json")
        config.write_text(config.read_text().replace('"bert"', '"t5"'))
        with self.assertRaisesRegex(ValueError, "there are bert and gpt2"):
            onnx_of_checkpoint.write(self.model, self.folder + "/model.onnx")

    def test_graph_over_other_types_is_refused(self):
        subprocess.run(
            [PROGRAMS + "/lowmem_generate", "--shape=minilm", "--layers=1", "--dtype=BF16",
             self.model], check=True, stderr=subprocess.DEVNULL)
        with self.assertRaisesRegex(ValueError, "takes F32"):
            onnx_of_checkpoint.write(self.model, self.folder + "/model.onnx")


if __name__ == "__main__":
    unittest.main()
