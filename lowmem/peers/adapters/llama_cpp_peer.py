"""The adapter of llama.cpp: its own program llama-bench, as Debian's package has it.

llama-bench takes little memory besides the model. It runs once to warm up, and then
prints the tokens a second. See peer_adapter.py.
"""

import json
import os
import sys

PACKAGE = "llama.cpp-tools"


def prepare():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import peer_adapter
    options = peer_adapter.parse_flags()
    place, _ = peer_adapter.find_place(options, ["llama-bench", "--help"])
    if place is None:
        peer_adapter.answer(missing="there is no llama-bench",
                            install=peer_adapter.install_in_sid(PACKAGE))
    _, version = peer_adapter.find_place(
        options, ["dpkg-query", "-W", "-f", "Debian's ${Version}", PACKAGE])
    name = peer_adapter.write_gguf(options)
    kind = ["-p", "0", "-n", str(options.tokens)]
    if peer_adapter.is_encoder(options.model):
        kind = ["-p", str(options.tokens), "-n", "0", "-embd", "1"]
    peer_adapter.answer(
        version=version or "version unknown",
        command=place.command(["llama-bench", "-m", place.work + "/" + name, "-r", "1", "-t",
                               str(options.threads), "-o", "json", *kind]),
        files=[options.work + "/" + name],
        reader=[sys.executable, "-B", os.path.realpath(__file__), "read", str(options.tokens)])


def read(tokens):
    rate = json.load(sys.stdin)[0]["avg_ts"]
    print(json.dumps({"tokens": tokens, "seconds": tokens / rate}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(int(sys.argv[2]))
    else:
        prepare()
