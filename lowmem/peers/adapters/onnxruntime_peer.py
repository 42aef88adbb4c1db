"""The adapter of onnxruntime: a graph over the checkpoint's own weights, default options.

See peer_adapter.py and onnx_of_checkpoint.py. As a program inside the limit:

    onnxruntime_peer.py run MODEL.onnx CONFIG encoder|decoder TOKENS THREADS
"""

import json
import os
import shutil
import sys
import time

PROMPT_TOKENS = 8


def link_weights(options):
    """The weights must lie beside the graph. Returns their path."""
    path = options.work + "/model.safetensors"
    if not os.path.exists(path):
        weights = options.model + "/model.safetensors"
        try:
            os.link(os.path.realpath(weights), path)
        except OSError:  # another disk
            shutil.copy(weights, path)
    return path


def prepare():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import onnx_of_checkpoint
    import peer_adapter
    options = peer_adapter.parse_flags()
    place, version = peer_adapter.find_python(
        options, ["numpy", "onnxruntime"], "onnxruntime.__version__")
    if place is None:
        peer_adapter.answer(missing="no Python here has onnxruntime",
                            install=peer_adapter.install_in_sid("python3-onnxruntime"))
    weights = link_weights(options)
    try:
        onnx_of_checkpoint.write(options.model, options.work + "/model.onnx")
    except ValueError as error:
        peer_adapter.answer(missing=str(error),
                            install="a checkpoint of GPT-2 or BERT in float32, for this peer")
    kind = "encoder" if peer_adapter.is_encoder(options.model) else "decoder"
    peer_adapter.answer(
        version=version.splitlines()[-1],
        command=place.command(
            ["/usr/bin/python3", "-B", place.adapters + "/onnxruntime_peer.py", "run",
             place.work + "/model.onnx", place.model + "/config.json", kind,
             str(options.tokens), str(options.threads)]),
        files=[weights])


def encode(numpy, session, config, count):
    ids = numpy.random.default_rng(1).integers(config["vocab_size"], size=count)
    feed = {"ids": ids, "positions": numpy.arange(count), "types": numpy.zeros_like(ids)}
    session.run(None, feed)
    begin = time.perf_counter()
    session.run(None, feed)
    return time.perf_counter() - begin


def generate(numpy, session, config, count):
    """Returns the seconds for `count` tokens after the first one."""
    heads, layers = config["n_head"], config["n_layer"]
    past = [numpy.zeros((heads, 0, config["n_embd"] // heads), numpy.float32)] * (2 * layers)
    ids = numpy.random.default_rng(1).integers(config["vocab_size"], size=PROMPT_TOKENS)
    begin = 0.0
    for number in range(count + 1):
        known = past[0].shape[1]
        new = len(ids)
        mask = numpy.triu(numpy.full((new, known + new), -numpy.inf, numpy.float32), known + 1)
        feed = {"ids": ids, "positions": numpy.arange(known, known + new), "mask": mask}
        feed.update(("past_%d" % i, value) for i, value in enumerate(past))
        logits, *past = session.run(None, feed)
        ids = logits[-1:].argmax(axis=-1)
        if number == 0:
            begin = time.perf_counter()
    return time.perf_counter() - begin


def run(graph, config_path, kind, tokens, threads):
    import numpy
    import onnxruntime
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    work = encode if kind == "encoder" else generate
    print(json.dumps({"tokens": tokens, "seconds": work(numpy, session, config, tokens)}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run(*sys.argv[2:5], int(sys.argv[5]), int(sys.argv[6]))
    else:
        prepare()
