#!/usr/bin/env python3
"""Memory and speed of models, by backend, tokens and batch.

  run_table.py --programs=DIR [--models=bert-large-multilingual] \\
      [--tokens=1,32,128,512] [--batches=1] [--pairs=3] [--seconds=1] [--torch]
  run_table.py --programs=DIR --sweep=1MiB,2MiB,1GiB --picture=sweep.svg
  run_table.py --programs=DIR --choice --models=bert-base --tokens=64 --pairs=30

DIR holds lowmem_generate, lowmem_pack and lowmem_run. Checkpoints are made from
a seed, packed, and read once, so that they are in the page cache; how much of
each is there, and how much in large pieces, is said. For one count of tokens the backends run in turn, again
and again, so that a slow moment of the machine falls on all of them; a ratio is
the median of those to the resident run of the same round. Each run is a process
of its own that does as many passes as take --seconds, the first not counted.
For GPT-2 the times are those of a generated token after the tokens as prompt.

A memory cgroup of its own says what the kernel charged each run at most: what it
asked for and the kernel's share of it, and what it brought into the page cache.
Only root may make one; the column says - where none can be made.

With --sweep one model runs with growing budgets, and a picture shows the peak of
memory against the throughput. With --torch a BERT of the same shape in PyTorch
runs in the same rounds, if it is installed.

With --choice each model runs with the budget that lowmem_run takes where nobody
names one, beside 64 MiB: its time was predicted, and is measured here.

Exit status: 0; 1 a program failed (the text says which); 2 wrong usage.
"""

import argparse
import contextlib
import json
import mmap
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path[:0] = ["base/machine", "tools/bench"]
from memory_group import MemoryGroup  # noqa: E402
from turns import median_interval, ratios, take_turns  # noqa: E402

# The budgets of BERT-large; the output of a batch comes on top, and more tokens
# have what their activations take.
MIB_BY_TOKENS = {1: 1, 32: 1, 128: 2, 512: 6}
UNITS = {"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TORCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "torch_encoder.py")


def fail(text):
    sys.exit("run_table: " + text)


def parse_bytes(text):
    number, unit = re.fullmatch(r"([\d.,]+) ?(\w+)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


def call(arguments, before=None):
    result = subprocess.run(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
        preexec_fn=before)
    if result.returncode != 0:
        fail("%s ended with %d: %s" % (
            " ".join(arguments), result.returncode, result.stderr.decode()[-500:]))
    return result.stdout.decode()


def call_in_group(arguments):
    """Returns the output, and the most bytes that its cgroup was charged."""
    with MemoryGroup() as group:
        text = call(arguments, group.join)
        return text, group.peak_bytes()


def make_checkpoint(programs, model, folder):
    """Returns the folder of the packed checkpoint."""
    plain = os.path.join(folder, "plain")
    packed = os.path.join(folder, model)
    for path in (plain, packed):
        os.mkdir(path)
    shape, *more = model.split(":")
    call([os.path.join(programs, "lowmem_generate"), "--shape=" + shape, plain] + more)
    call([os.path.join(programs, "lowmem_pack"), plain + "/model.safetensors",
          packed + "/model.safetensors"])
    os.rename(plain + "/config.json", packed + "/config.json")
    os.remove(plain + "/model.safetensors")
    os.rmdir(plain)
    return packed


def read_once(path):
    """Reads the file into the page cache, in the largest folios that the system makes."""
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as image:
            with contextlib.suppress(OSError):  # a system without huge pages
                image.madvise(mmap.MADV_HUGEPAGE)
            for at in range(0, len(image), mmap.PAGESIZE):
                image[at]  # pylint: disable=pointless-statement


def cached_share(path):
    """Returns the share of the file in the page cache, or None if it is unknown."""
    try:
        text = call(["fincore", "--bytes", "--noheadings", "--output=RES", path])
    except FileNotFoundError:
        return None
    return int(text) / os.path.getsize(path)


def large_share(path):
    """Returns the share of the file in large folios of the page cache, which one
    entry maps, or None if it is unknown. With few tokens they decide the speed
    of mmap."""
    with open(path, "rb") as file:
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as image:
            for at in range(0, len(image), mmap.PAGESIZE):
                image[at]  # pylint: disable=pointless-statement
            with open("/proc/self/smaps", encoding="utf-8") as maps:
                text = maps.read()
    found = re.search(re.escape(os.path.realpath(path)) + r"\n(?:.*\n)*?"
                      r"FilePmdMapped: +(\d+) kB", text)
    return int(found.group(1)) * 1024 / os.path.getsize(path) if found else None


def keep_in_large_pieces(path, share):
    """Reads the file again if the system evicted large folios of it."""
    if share and large_share(path) < 0.97 * share:
        read_once(path)


def processor():
    """Returns the processor's name and whether it has AVX-512, on which times depend."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    name = re.search(r"^model name\s*: (.*)", text, re.M)
    return "%s, %s" % (name.group(1) if name else "unknown",
                       "AVX-512" if " avx512f" in text else "no AVX-512")


def parse_report(text):
    """Returns the figures of lowmem_run's report."""
    figures = {}
    further = re.search(r"([\d.]+) s for each further token", text)
    times = re.findall(r"^time +([\d.]+) s, ([\d.]+) GFLOP/s; processor ([\d.]+) s",
                       text, re.M)
    if further:
        figures["seconds"] = float(further.group(1))
        figures["gflops"] = None
    elif times:
        kept = times[1:] if len(times) > 1 else times
        for index, name in enumerate(("seconds", "gflops", "processor")):
            figures[name] = statistics.median(float(row[index]) for row in kept)
        figures["passes"] = len(times)
    else:
        fail("no time in the report:\n" + text)
    for name, pattern in (
            ("arena", r"^arena +(\S+ \S+) planned"),
            ("peak", r"^process +(\S+ \S+) VmHWM"),
            ("anonymous", r"now (\S+ \S+) anonymous"),
            ("file", r"and (\S+ \S+) of files"),
            ("read", r"delivered, (\S+ \S+) read")):
        found = re.search(pattern, text, re.M)
        if not found:
            fail("no %s in the report:\n%s" % (name, text))
        figures[name] = parse_bytes(found.group(1))
    figures["choice"] = re.search(
        r"^budget +(\S+ [A-Za-z]+)(?:, predicted to take (\S+))?", text, re.M).groups()
    figures["waited"] = float(re.search(r"waited ([\d.]+) s", text).group(1))
    return figures


def encoder_budget(folder, tokens, batch):
    with open(folder + "/config.json", encoding="utf-8") as file:
        hidden = json.load(file).get("hidden_size", 768)
    mib = MIB_BY_TOKENS.get(tokens, 2 + tokens // 64)
    return str((mib << 20) + (batch * tokens * hidden * 4 if batch > 1 else 0))


class Table:
    def __init__(self, options):
        self.options = options

    def run(self, folder, backend, tokens, batch, budget, passes):
        arguments = [
            os.path.join(self.options.programs, "lowmem_run"), folder,
            "--random_ids=%d" % tokens, "--backend=" + backend,
            "--threads=%d" % self.options.threads]
        if budget:
            arguments.append("--budget=" + budget)
        if "gpt2" in os.path.basename(folder):
            arguments.append("--generate=%d" % (passes + 1))
        else:
            arguments += ["--repeat=%d" % passes, "--batch=%d" % batch]
        text, charged = call_in_group(arguments)
        figures = parse_report(text)
        figures["charged"] = charged
        figures.setdefault("passes", passes + 1)
        return figures

    def passes(self, folder, tokens, batch, budget):
        """As many as were asked for, or take about the time that was."""
        if self.options.passes:
            return self.options.passes
        seconds = self.run(folder, "pread", tokens, batch, budget, 2)["seconds"]
        return max(3, min(100, int(self.options.seconds / seconds) + 1))

    def rounds(self, folder, tokens, batch):
        """Figures by backend, one for each round."""
        decoder = "gpt2" in os.path.basename(folder)
        budget = "64MiB" if decoder else encoder_budget(folder, tokens, batch)
        passes = self.passes(folder, tokens, batch, budget)
        names = self.options.backends + (
            ["torch"] if self.options.torch and not decoder else [])

        weights = folder + "/model.safetensors"
        share = large_share(weights)

        def run(name, number):
            if name == (names[0] if number % 2 == 0 else names[-1]):
                keep_in_large_pieces(weights, share)
            if name == "torch":
                return torch_figures(folder, tokens, batch, passes)
            given = "4GiB" if name == "resident" else budget
            return self.run(folder, name, tokens, batch, given, passes)

        return take_turns(names, self.options.pairs, run)


def torch_figures(folder, tokens, batch, passes):
    text, charged = call_in_group(
        ["/usr/bin/python3", TORCH, folder + "/config.json", str(tokens),
         str(batch), str(passes)])
    seconds, peak = text.split()
    return {"seconds": float(seconds), "peak": float(peak), "charged": charged}


def megabytes(figures, name):
    size = figures.get(name)
    return "-" if size is None else "%.2f" % (size / (1 << 20))


HEADINGS = ("model", "tokens", "batch", "backend", "arena", "peak", "anon", "file",
            "cgroup", "read", "waited", "s", "GFLOP/s", "ratio", "processor", "ratio")
WIDTHS = (-24, 6, 5, -9, 8, 9, 8, 8, 9, 9, 7, 9, 8, 21, 9, 21)


def print_cells(cells, markdown):
    if markdown:
        print("| %s |" % " | ".join(cells), flush=True)
    else:
        print(" ".join("%*s" % pair for pair in zip(WIDTHS, cells)), flush=True)


def of_all(figures, name):
    return [row[name] for row in figures if row.get(name)]


def ratio_cell(found, figures, name):
    """Resident's by this one's, and the interval where there are enough rounds."""
    own = of_all(figures, name)
    resident = of_all(found.get("resident", []), name)
    if not own or not resident:
        return "-"
    median, low, high = median_interval(ratios(resident, own))
    return "%.3f" % median if low is None else "%.3f [%.3f, %.3f]" % (median, low, high)


def print_rows(model, tokens, batch, found, markdown):
    for backend, figures in found.items():
        median = statistics.median(of_all(figures, "seconds"))
        busy = of_all(figures, "processor")
        last = figures[-1]
        peak = max(row["peak"] for row in figures)
        rates = [row["gflops"] for row in figures if row.get("gflops")]
        passes = last.get("passes", 1)
        print_cells((
            model, str(tokens), str(batch), backend, megabytes(last, "arena"),
            "%.2f" % (peak / (1 << 20)), megabytes(last, "anonymous"),
            megabytes(last, "file"), megabytes(last, "charged"),
            "%.1f" % (last["read"] / passes / 1e6) if "read" in last else "-",
            "%.3f" % (last["waited"] / passes) if "waited" in last else "-",
            "%.4f" % median, "%.1f" % statistics.median(rates) if rates else "-",
            ratio_cell(found, figures, "seconds"),
            "%.4f" % statistics.median(busy) if busy else "-",
            ratio_cell(found, figures, "processor")), markdown)


def percent(share):
    return "unknown" if share is None else "%.0f %%" % (100 * share)


def print_head(markdown):
    print("%sarena, peak, anonymous, file, peak of the cgroup: MiB; read: MB a pass; "
          "waited: s a pass, all threads together; s: of a pass, or of a generated token; "
          "processor: s a pass, all threads together; ratios: of resident's time to this "
          "one's, with 95 %% intervals; on %s"
          % ("" if markdown else "# ", processor()))
    if markdown:
        print()
    print_cells(HEADINGS, markdown)
    if markdown:
        print("|" + "---|" * len(HEADINGS))


def draw(program, points, resident, titles, path):
    """Throughput against peak. `points` are (peak in bytes, tokens a second, budget)."""
    streamed = [(peak, rate, re.sub(r"(?<=\d)(?=[A-Z])", " ", budget))
                for peak, rate, budget in points]
    chart = {
        "title": titles[0], "description": titles[1], "bytes_on_x": True,
        "x_label": "peak of the process (VmHWM), log scale",
        "y_label": "tokens a second",
        "lines": [{"name": "weights streamed, in the budget at the point",
                   "points": streamed},
                  {"name": "all weights resident", "points": [(*resident, "")]}]}
    result = subprocess.run([program], input=json.dumps(chart), capture_output=True,
                            check=False, text=True)
    if result.returncode != 0:
        fail("no picture: " + result.stderr)
    with open(path, "w", encoding="utf-8") as picture:
        picture.write(result.stdout)


def sweep(table, folder, model, options):
    tokens = options.tokens[0]
    passes = table.passes(folder, tokens, 1, None)
    budgets = options.sweep.split(",")

    def run(budget, _):
        resident = budget == "resident"
        return table.run(folder, "resident" if resident else "pread", tokens, 1,
                         "4GiB" if resident else budget, passes)

    found = take_turns(budgets + ["resident"], options.pairs, run)
    points = []
    print("%-10s %9s %9s %9s %9s" % ("budget", "arena", "peak", "s", "tokens/s"))
    for budget, rows in found.items():
        seconds = statistics.median(row["seconds"] for row in rows)
        peak = max(row["peak"] for row in rows)
        points.append((peak, tokens / seconds, budget))
        print("%-10s %9s %9.2f %9.4f %9.1f" % (
            budget, megabytes(rows[0], "arena"), peak / (1 << 20), seconds,
            tokens / seconds))
    if options.picture:
        titles = ("Throughput against peak memory: %s" % model,
                  "%d tokens a pass, 2 threads, file in the page cache, medians of %d "
                  "rounds" % (tokens, options.pairs))
        draw(options.draw, points[:-1], points[-1][:2], titles, options.picture)


def print_choice(table, folder, model, tokens):
    """The budget that lowmem_run chooses, its time predicted and measured."""
    passes = table.passes(folder, tokens, 1, "64MiB")
    weights = folder + "/model.safetensors"
    share = large_share(weights)

    def run(name, _):
        keep_in_large_pieces(weights, share)
        return table.run(folder, "pread", tokens, 1, name, passes)

    found = take_turns(["", "64MiB"], table.options.pairs, run)
    budget, predicted = found[""][0]["choice"]
    name = "seconds" if "gpt2" in model else "processor"
    median, low, high = median_interval(
        ratios(of_all(found[""], name), of_all(found["64MiB"], name)))
    interval = "" if low is None else " [%.3f, %.3f]" % (low, high)
    print_cells((model, str(tokens), budget, predicted, "%.3f%s" % (median, interval)),
                markdown=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--models", default="bert-large-multilingual",
                        type=lambda text: text.split(","))
    parser.add_argument("--tokens", default="1,32,128,512", type=numbers)
    parser.add_argument("--batches", default="1", type=numbers)
    parser.add_argument("--backends", default="resident,pread,direct,mmap",
                        type=lambda text: text.split(","))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", default=2, type=int, help="number of threads of lowmem_run")
    parser.add_argument("--passes", type=int, help="number of passes in each process, instead of --seconds")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown for a page")
    parser.add_argument("--sweep", default="")
    parser.add_argument("--picture", default="")
    parser.add_argument("--choice", action="store_true")
    parser.add_argument("--draw", default="base/page/draw_line_chart",
                        help="the program that draws the picture")
    parser.add_argument("--folder", default=None, help="folder for the checkpoints")
    options = parser.parse_args()
    if isinstance(options.models, str):
        options.models = [options.models]
    table = Table(options)
    if options.choice:
        print("pread, %d thread(s), %d rounds, on %s\n"
              % (options.threads, options.pairs, processor()))
        print_cells(("model", "tokens", "budget", "predicted", "measured"), markdown=True)
        print("|" + "---|" * 5)
    elif not options.sweep:
        print_head(options.markdown)
    for model in options.models:
        with tempfile.TemporaryDirectory(dir=options.folder) as place:
            folder = make_checkpoint(options.programs, model, place)
            weights = folder + "/model.safetensors"
            read_once(weights)
            if options.sweep:
                sweep(table, folder, model, options)
                continue
            if options.choice:
                for tokens in options.tokens:
                    print_choice(table, folder, model, tokens)
                continue
            for tokens in options.tokens:
                for batch in [1] if "gpt2" in model else options.batches:
                    print_rows(model, tokens, batch, table.rounds(folder, tokens, batch),
                               options.markdown)
            if options.markdown:
                continue
            print("# %s: %s of the file in the page cache at the end, %s in pieces of 2 MiB" % (
                model, percent(cached_share(weights)), percent(large_share(weights))))


if __name__ == "__main__":
    main()
