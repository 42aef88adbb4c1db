"""lowmem, llama.cpp, onnxruntime and torch inside limits on memory: who is alive, and how fast.

  lowmem_peers [MODEL_DIR] [--limits=512MiB,256MiB,...] [--tokens=N] [--output=FOLDER]

For each limit, each peer runs the same model alone in a control group that has the limit,
counts the page cache and has no swap. The files of the model leave the page cache first. A
decoder generates --tokens tokens after a prompt of 8; an encoder reads --encoder_tokens
tokens twice, and the second time counts. Each run has one of these ends:

  ran        it ended, and its tokens a second are known
  killed     the kernel killed it for the limit
  no answer  it did not end in --seconds, and was ended
  error      it failed otherwise; the page has its last words
  absent     the peer is not installed; the page has the command that installs it

MODEL_DIR has config.json and model.safetensors of float32. Without it, GPT-2 and BERT-base
are generated with random weights, which take as long as real ones. A peer that needs another
format gets the same weights in it. FOLDER gets peers.json (every figure), peers.svg and
peers.html; the table is printed, and progress goes to standard error. It replaces these
three files. A run that is interrupted leaves what it measured in peers.json.

To install the peers, once, as root, in a folder of Debian sid (see `tools/dev modern`):

  debootstrap --variant=minbase sid /var/cache/footprint/sid
  chroot /var/cache/footprint/sid apt-get install --no-install-recommends \\
      llama.cpp-tools python3-onnxruntime python3-torch python3-transformers
  npm install --prefix ~/.cache/footprint/peers node-llama-cpp@3.21.1

FOOTPRINT_SID and FOOTPRINT_PEERS_NPM name other folders.

To add an engine, write an adapter (lowmem/peers/peer_adapter.py says what it prints), and
name it: --adapter="my engine=path/to/adapter.py".

Exit status: 0 the table is complete, whatever happened to the peers; 1 it could not be
measured (the text says why); 2 wrong usage.
"""

import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import peer_adapter
import peer_run

sys.path[:0] = ["lowmem/programs", "tools/bench"]
import run_table  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
# A peer is a row here, and an adapter.
PEERS = (
    ("lowmem", "lowmem_peer.py"),
    ("llama.cpp", "llama_cpp_peer.py"),
    ("node-llama-cpp", "node_llama_cpp_peer.py"),
    ("onnxruntime", "onnxruntime_peer.py"),
    ("torch", "torch_peer.py"),
)
SHAPES = "gpt2,bert-base"
PROGRAMS = os.path.abspath("lowmem/programs")
WRITE = os.path.abspath("lowmem/peers/write_peers_table")
PREPARE_SECONDS = 600


class Failure(Exception):
    """What prevents the table; the text says why and what to do."""


def say(text):
    print("lowmem_peers: " + text, file=sys.stderr, flush=True)


def from_here(path):
    """Returns the path as seen from the folder in which the command was typed."""
    return os.path.abspath(os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), path))


def parse_limit(text):
    match = re.fullmatch(r"(\d+)(KiB|MiB|GiB)", text.strip())
    if not match or int(match.group(1)) == 0:
        raise argparse.ArgumentTypeError(
            "%r is no limit; write a number and a unit, for example 64MiB" % text)
    return int(match.group(1)) * run_table.UNITS[match.group(2)]


def parse_limits(text):
    """Returns the limits, the largest first, each once."""
    return sorted({parse_limit(part) for part in text.split(",")}, reverse=True)


def positive(text):
    if not re.fullmatch(r"\d+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError("%r is no number of at least 1" % text)
    return int(text)


def parse_adapter(text):
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError("%r is not NAME=FILE, the file of an adapter" % text)
    return name, from_here(path)


def parse_flags(arguments):
    parser = argparse.ArgumentParser(
        prog="lowmem_peers", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("model", nargs="?", metavar="MODEL_DIR", help="default: GPT-2 and BERT-base, generated")
    add("--limits", type=parse_limits, default="512MiB,256MiB,128MiB,64MiB,32MiB,16MiB",
        help="default: %(default)s")
    add("--tokens", type=positive, default=8, help="tokens that a decoder generates after the "
        "first; default: %(default)s")
    add("--encoder_tokens", type=positive, default=128,
        help="tokens that an encoder reads; default: %(default)s")
    add("--seconds", type=positive, default=60, help="time for a run; default: %(default)s")
    add("--threads", type=positive, default=2, help="default: %(default)s")
    add("--peers", type=lambda text: text.split(","), help="only these, for example lowmem,torch")
    add("--adapter", type=parse_adapter, action="append", default=[], metavar="NAME=FILE",
        help="one more peer; may be given several times")
    add("--shapes", default=SHAPES, help="what lowmem_generate makes without a MODEL_DIR, with "
        "its flags after colons: gpt2:--layers=2; default: %(default)s")
    add("--output", type=from_here, default="results/lowmem_peers", metavar="FOLDER",
        help="default: %(default)s")
    add("--work", type=from_here, default=os.environ.get("TMPDIR", "/var/tmp"), metavar="FOLDER",
        help="where the files of models lie, whose disk is measured; default: %(default)s")
    return parser, parser.parse_args(arguments)


def find_peers(options):
    """Returns [(name, the adapter's path)]."""
    peers = [(name, "%s/adapters/%s" % (HERE, file)) for name, file in PEERS] + options.adapter
    names = [name for name, _ in peers]
    for name in options.peers or []:
        if name not in names:
            raise Failure('there is no peer "%s"; there are %s' % (name, ", ".join(names)))
    for name, path in peers:
        if not os.path.isfile(path):
            raise Failure("%s: there is no adapter %s; name a file by --adapter" % (name, path))
    return [peer for peer in peers if not options.peers or peer[0] in options.peers]


def check_model(folder):
    for name in ("config.json", "model.safetensors"):
        if not os.path.isfile(os.path.join(folder, name)):
            raise Failure("%s has no %s; name a folder with config.json and model.safetensors, "
                          "or none" % (folder, name))
    try:
        with open(folder + "/config.json", encoding="utf-8") as file:
            config = json.load(file)
    except ValueError as error:
        raise Failure("%s/config.json is not JSON (%s); copy the model again"
                      % (folder, error)) from None
    if not isinstance(config, dict) or "model_type" not in config:
        raise Failure("%s/config.json has no model_type; name a published model's folder" % folder)


def check_groups(limits):
    try:
        with peer_run.MemoryGroup(max(limits)):
            pass
    except OSError as error:
        why = "run it as root" if os.geteuid() != 0 else (
            "run it on a machine, or in a container, that may make control groups with the "
            "memory controller")
        raise Failure("no control group can be made (%s); %s" % (error, why)) from None


def check_folder(flag, folder):
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Failure("%s=%s cannot be written (%s); name another folder"
                      % (flag, folder, error.strerror)) from None


def check_disk(flag, folder):
    """A file in memory can neither leave the page cache nor be read from a disk."""
    if disk_of(folder).endswith((" tmpfs", " ramfs")):
        raise Failure("%s%s lies in memory, so no bytes are read from a disk; name a folder on "
                      "a disk" % (flag, folder))


def generate(shape, folder):
    """Returns the folder of a generated checkpoint."""
    name, *flags = shape.split(":")
    path = os.path.join(folder, name)
    done = subprocess.run([PROGRAMS + "/lowmem_generate", "--shape=" + name, *flags, path],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure("--shapes=%s: %s" % (shape, peer_run.last_words(done.stderr)))
    return path


def prepare(adapter, model, work, tokens, threads):
    """Returns what the adapter printed; a fault of it is an answer, too."""
    os.makedirs(work, exist_ok=True)
    command = [sys.executable, "-B", adapter, "--model=" + model, "--work=" + work,
               "--tokens=%d" % tokens, "--threads=%d" % threads, "--programs=" + PROGRAMS]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=PREPARE_SECONDS)
    except subprocess.TimeoutExpired:
        return {"missing": "its adapter did not end in %d s" % PREPARE_SECONDS,
                "install": "run %s by hand" % adapter}
    try:
        job = json.loads(peer_run.last_line(done.stdout))
        if "missing" in job or isinstance(job["command"], list):
            return job
    except (ValueError, TypeError, KeyError):
        pass
    said = peer_run.last_words(done.stderr) or peer_run.last_words(done.stdout) or "nothing"
    return {"missing": 'its adapter printed no JSON with "command" or "missing", but: ' + said,
            "install": "run %s by hand" % adapter}


def describe(outcome):
    if outcome["verdict"] == "ran":
        text = "%.4g tokens a second" % outcome["tokens_per_second"]
    else:
        text = outcome["verdict"]
    detail = outcome.get("detail", "")
    return "%s, %.1f s, read %.0f MB%s" % (
        text, outcome.get("wall_seconds", 0), outcome.get("read_bytes", 0) / 1e6,
        ": " + detail if detail else "")


class Table:
    """What was measured, kept in a file after each run."""

    def __init__(self, options, arguments):
        self._path = os.path.join(options.output, "peers.json")
        self._limits = options.limits
        self.values = {
            "command": shlex.join(["bazel", "run", "-c", "opt", "//lowmem:lowmem_peers", "--",
                                   *arguments]),
            "limits": options.limits, "most_seconds": options.seconds, "facts": facts(options),
            "models": []}

    def add_model(self, folder, tokens):
        kind = "encoder" if peer_adapter.is_encoder(folder) else "decoder"
        self.values["models"].append({
            "name": os.path.basename(folder), "kind": kind, "tokens": tokens, "peers": [],
            "bytes": os.path.getsize(folder + "/model.safetensors")})
        return self.values["models"][-1]

    def save(self):
        with tempfile.NamedTemporaryFile(
                "w", dir=os.path.dirname(self._path), delete=False, encoding="utf-8") as file:
            json.dump(self.values, file, indent=1)
        os.chmod(file.name, 0o644)
        os.replace(file.name, self._path)


def disk_of(folder):
    """Returns the name of the disk with the folder."""
    done = subprocess.run(["findmnt", "-n", "-o", "SOURCE,FSTYPE", "--target", folder],
                          stdout=subprocess.PIPE, text=True, check=False)
    return " ".join(done.stdout.split()) or "unknown"


def disk_rate(path):
    """Returns how fast the disk gives the file, in words."""
    begin = time.monotonic()
    done = subprocess.run(["dd", "if=" + path, "of=/dev/null", "iflag=direct", "bs=4M",
                           "status=none"], stderr=subprocess.DEVNULL, check=False)
    rate = os.path.getsize(path) / (time.monotonic() - begin) / 1e9
    return "unknown" if done.returncode else (
        "%.2f GB/s, for one reading past the page cache" % rate)


def facts(options):
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) >> 10
    return [["date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")],
            ["processor", "%s, %d threads used of %d" % (
                run_table.processor(), options.threads, os.cpu_count())],
            ["kernel", "Linux " + os.uname().release], ["memory", "%d MiB" % memory],
            ["disk", disk_of(options.work)]]


def measure(options, peers, folder, work, table):
    """Runs each peer in each limit, and keeps what was measured."""
    tokens = options.encoder_tokens if peer_adapter.is_encoder(folder) else options.tokens
    model = table.add_model(folder, tokens)
    table.values["facts"].append(
        ["disk's rate, " + model["name"], disk_rate(folder + "/model.safetensors")])
    jobs = []
    for name, adapter in peers:
        say("%s: preparing %s" % (model["name"], name))
        job = prepare(adapter, folder, os.path.join(work, re.sub(r"\W", "_", name)), tokens,
                      options.threads)
        row = {"peer": name, "runs": [], **{
            key: job[key] for key in ("version", "missing", "install") if key in job}}
        model["peers"].append(row)
        if "missing" in job:
            say("%s is absent: %s; next step: %s" % (name, job["missing"], job.get("install")))
        else:
            jobs.append((row, job))
    for limit in options.limits:
        for row, job in jobs:
            outcome = peer_run.run(job, limit, options.seconds)
            row["runs"].append({"limit_bytes": limit, **outcome})
            say("%s in %d MiB: %s: %s" % (
                model["name"], limit >> 20, row["peer"], describe(outcome)))
            table.save()
    table.save()


def write_outputs(folder):
    source = os.path.join(folder, "peers.json")
    for kind in ("svg", "html"):
        with open(os.path.join(folder, "peers." + kind), "wb") as file:
            subprocess.run([WRITE, kind, source], stdout=file, check=True)
    subprocess.run([WRITE, "text", source], check=True)
    say("the page is %s/peers.html" % folder)


def run(options, arguments):
    peers = find_peers(options)
    if options.model:
        options.model = from_here(options.model)
        check_model(options.model)
    check_groups(options.limits)
    check_folder("--output", options.output)
    check_folder("--work", options.work)
    for flag, folder in (("MODEL_DIR ", options.model), ("--work=", options.work)):
        if folder:
            check_disk(flag, folder)
    table = Table(options, arguments)
    work = tempfile.mkdtemp(prefix="lowmem_peers.", dir=options.work)
    try:
        for number, shape in enumerate([None] if options.model else options.shapes.split(",")):
            place = os.path.join(work, str(number))
            os.mkdir(place)
            folder = options.model or generate(shape, place)
            measure(options, peers, folder, os.path.join(place, "peers"), table)
            shutil.rmtree(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    write_outputs(options.output)


def main(arguments):
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # control groups are removed
    parser, options = parse_flags(arguments)
    try:
        run(options, arguments)
    except (Failure, peer_run.Refused, OSError) as error:
        parser.exit(1, "lowmem_peers: %s\n" % error)
    except subprocess.CalledProcessError as error:
        parser.exit(1, "lowmem_peers: %s failed with %d\n" % (error.cmd[0], error.returncode))
    except KeyboardInterrupt:
        parser.exit(1, "lowmem_peers: interrupted; %s/peers.json has what was measured\n"
                    % options.output)


if __name__ == "__main__":
    main(sys.argv[1:])
