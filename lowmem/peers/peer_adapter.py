"""What the adapters of peers share: their flags, their answers, and where programs are.

An adapter is a program for one peer. lowmem_peers.py calls it once for each model:

    ADAPTER --model=MODEL_DIR --work=FOLDER --tokens=8 --threads=2 --programs=DIR

It makes the files that the peer needs in FOLDER, and prints one line of JSON:

    {"version": "llama.cpp b9999", "command": [...], "files": ["model.gguf"]}
    {"missing": "no llama-bench here", "install": "apt-get install llama.cpp-tools"}

The command runs inside the limit, whose bytes replace the word {limit_bytes} in it. Its last
line must be {"tokens": 8, "seconds": 1.5}:
the tokens of a decoder after a first one, or those of an encoder's pass after a first one.
If the peer prints another report, "reader" is a command that turns it into such a line,
outside of the limit. "files" are the files of the model, which leave the page cache first.

Peers are looked for on this machine, and in a folder of Debian sid that FOOTPRINT_SID names
(default: /var/cache/footprint/sid, which `tools/dev modern` makes).
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
SID = os.environ.get("FOOTPRINT_SID", "/var/cache/footprint/sid")
NPM = os.environ.get("FOOTPRINT_PEERS_NPM", os.path.expanduser("~/.cache/footprint/peers"))
ENCODERS = ("bert", "camembert", "distilbert", "mpnet", "roberta", "xlm-roberta")
# Inside of the folder of sid: the model, the work folder and the adapters.
PLACES = ("media", "mnt", "srv")
# A mount namespace of its own: its mounts vanish with the process.
_ENTER = """
set -e
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
for place in media mnt srv; do
  mount --bind "$2" "$1/$place"
  root=$1
  shift 2
  set -- "$root" "$@"
done
root=$1
shift
exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
"""


def parse_flags():
    parser = argparse.ArgumentParser()
    for name in ("model", "work", "programs"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    for name in ("tokens", "threads"):
        parser.add_argument("--" + name, required=True, type=int)
    return parser.parse_args()


def answer(**values):
    print(json.dumps(values))
    sys.exit(0)


def model_type(folder):
    with open(folder + "/config.json", encoding="utf-8") as file:
        return json.load(file).get("model_type", "")


def is_encoder(folder):
    return model_type(folder) in ENCODERS


class OnHost:
    """A peer that this machine has."""

    def __init__(self, options):
        self.model, self.work, self.adapters = options.model, options.work, HERE + "/adapters"

    def command(self, words):
        return list(words)


class InSid:
    """A peer in a folder of Debian sid, where paths are other ones."""

    def __init__(self, options):
        self._binds = [options.model, options.work, HERE + "/adapters"]
        self.model, self.work, self.adapters = ("/" + place for place in PLACES)

    def command(self, words):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh",
                SID, *self._binds, *words]


def find_place(options, check):
    """Returns the first place where the command `check` succeeds, and its output."""
    places = [OnHost(options)]
    if os.geteuid() == 0 and os.path.exists(SID + "/usr/bin"):
        places.append(InSid(options))
    for place in places:
        try:
            done = subprocess.run(place.command(check), capture_output=True, text=True,
                                  check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return place, done.stdout.strip()
    return None, ""


def find_python(options, modules, version):
    """Returns the place whose Python has the modules, and what `version` evaluates to."""
    return find_place(options, ["/usr/bin/python3", "-c", "import %s; print(%s)" % (
        ", ".join(modules), version)])


def install_in_sid(*packages):
    """Returns the command that installs packages of Debian sid in its folder."""
    return "chroot %s apt-get install --no-install-recommends %s" % (SID, " ".join(packages))


def write_gguf(options):
    """Returns the name of a GGUF file of the model in the work folder, made if needed."""
    path = options.work + "/model.gguf"
    if not os.path.exists(path):
        done = subprocess.run(
            [sys.executable, "-B", options.programs + "/gguf_of_checkpoint.py", options.model,
             path + ".part"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            answer(missing=(done.stderr.strip().splitlines() or ["no GGUF file"])[-1],
                   install="a checkpoint of GPT-2 or BERT in float32, for this peer")
        os.rename(path + ".part", path)
    return "model.gguf"
