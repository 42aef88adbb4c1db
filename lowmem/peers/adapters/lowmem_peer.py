"""The adapter of lowmem itself: its own programs.

The weights are packed once, as lowmem's README advises. The budget is the limit less
OWN_BYTES for the program itself; other flags have their defaults. See peer_adapter.py.
"""

import json
import os
import shutil
import subprocess
import sys

PROMPT_TOKENS = 8
OWN_BYTES = 8 << 20
# The shell computes the budget and then becomes lowmem_run.
_RUN = 'budget=$(($1 - $2)) && shift 2 && exec "$@" "--budget=$budget"'


def pack(options):
    """Returns the folder of the packed model."""
    folder = options.work + "/packed"
    if not os.path.exists(folder):
        os.mkdir(folder + ".part")
        subprocess.run(
            [options.programs + "/lowmem_pack", options.model + "/model.safetensors",
             folder + ".part/model.safetensors"], check=True, stderr=subprocess.PIPE)
        shutil.copy(options.model + "/config.json", folder + ".part")
        os.rename(folder + ".part", folder)
    return folder


def prepare():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import peer_adapter
    options = peer_adapter.parse_flags()
    try:
        folder = pack(options)
    except subprocess.CalledProcessError as error:
        peer_adapter.answer(missing=error.stderr.decode().strip().splitlines()[-1],
                            install="a folder with config.json and model.safetensors")
    command = ["sh", "-c", _RUN, "sh", "{limit_bytes}", str(OWN_BYTES),
               options.programs + "/lowmem_run", folder, "--threads=%d" % options.threads]
    if peer_adapter.is_encoder(options.model):
        command += ["--random_ids=%d" % options.tokens, "--repeat=2"]
    else:
        command += ["--random_ids=%d" % PROMPT_TOKENS, "--generate=%d" % (options.tokens + 1)]
    peer_adapter.answer(
        version="this tree", command=command, files=[folder + "/model.safetensors"],
        reader=[sys.executable, "-B", os.path.realpath(__file__), "read",
                str(options.tokens)])


def read(tokens):
    """Prints the figures of a report of lowmem_run. A generated token takes the median time."""
    sys.path[:0] = ["tools/bench", "lowmem/programs"]
    import run_table
    text = sys.stdin.read()
    seconds = run_table.parse_report(text)["seconds"]
    is_decoder = "for each further token" in text
    print(json.dumps({"tokens": tokens, "seconds": seconds * (tokens if is_decoder else 1)}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(int(sys.argv[2]))
    else:
        prepare()
