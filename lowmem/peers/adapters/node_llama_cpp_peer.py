"""The adapter of node-llama-cpp, whose binary from npm has llama.cpp's fast kernels.

Node.js itself takes some 50 MiB. See peer_adapter.py and node_llama_cpp_run.mjs.
"""

import json
import os
import shutil
import sys


def main():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import peer_adapter
    options = peer_adapter.parse_flags()
    package = peer_adapter.NPM + "/node_modules/node-llama-cpp"
    if shutil.which("node") is None or not os.path.isdir(package):
        peer_adapter.answer(
            missing="there is no node, or no node-llama-cpp in " + peer_adapter.NPM,
            install="npm install --prefix %s node-llama-cpp@3.21.1" % peer_adapter.NPM)
    kind = "encoder" if peer_adapter.is_encoder(options.model) else "decoder"
    with open(package + "/package.json", encoding="utf-8") as file:
        version = json.load(file)["version"]
    path = options.work + "/" + peer_adapter.write_gguf(options)
    peer_adapter.answer(
        version="node-llama-cpp %s from npm" % version,
        command=["node", peer_adapter.HERE + "/adapters/node_llama_cpp_run.mjs", package, path,
                 kind, str(options.tokens), str(options.threads)],
        files=[path])


if __name__ == "__main__":
    main()
