"""One run of a peer inside a limit on memory: its verdict and its figures.

    outcome = peer_run.run(job, limit_bytes=64 << 20, most_seconds=60)
    print(outcome["verdict"], outcome.get("tokens_per_second"))

A job is what an adapter prints (peer_adapter.py): the command, the files of the model,
and perhaps a command that turns the output into figures. The files are dropped from the
page cache first. The verdicts:

    ran        the command ended with 0, and printed its figures
    killed     the kernel killed a process for the limit
    no answer  the command did not end in time, and was ended
    error      the command failed otherwise; "detail" has its last words

"read_bytes" is what the command and the children that it waited for read from a disk.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "base/machine")
from memory_group import MemoryGroup  # noqa: E402

VERDICTS = ("ran", "killed", "no answer", "error")
MOST_CACHED_SHARE = 0.01
MOST_WORDS = 300  # letters
MOST_OUTPUT_BYTES = 1 << 20


class Refused(Exception):
    """A run that cannot be tried; the text says why and what to do."""


def cached_share(path):
    """Returns the share of the file that is in the page cache, or None if it is unknown."""
    try:
        done = subprocess.run(["fincore", "--bytes", "--noheadings", "--output=RES", path],
                              stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(done.stdout) / max(1, os.path.getsize(path))


def drop_from_cache(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    share = cached_share(path)
    if share is not None and share > MOST_CACHED_SHARE:
        raise Refused(
            "%.0f %% of %s stay in the page cache, so another program uses the file: end it, "
            "or name a copy of the model" % (100 * share, path))


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def last_words(text):
    """Returns the last line that names an error, or else the last line, cut to a sentence."""
    lines = [line for line in text.splitlines()
             if "rror" in line and not line.startswith((" ", "\t"))]
    return last_line("\n".join(lines) or text)[:MOST_WORDS]


def read_figures(text):
    """Returns {"tokens", "seconds"} of a peer's last line; raises ValueError for another one."""
    line = last_line(text)
    try:
        figures = json.loads(line)
        tokens, seconds = int(figures["tokens"]), float(figures["seconds"])
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            'its last line is not JSON with "tokens" and "seconds": %r' % line[:MOST_WORDS]) from None
    if tokens < 1 or not 0 < seconds < float("inf"):
        raise ValueError("it printed %d tokens in %g seconds" % (tokens, seconds))
    return {"tokens": tokens, "seconds": seconds}


def judge(exit_code, is_late, oom_kills, figures):
    """Returns the verdict. A process of the group may be killed and another one end."""
    if is_late:
        return "no answer"
    if exit_code == 0 and figures:
        return "ran"
    return "killed" if oom_kills else "error"


def wait(process, group, most_seconds):
    """Returns the exit code, the bytes read, and whether the time was over."""
    deadline = time.monotonic() + most_seconds
    is_late = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_inblock * 512, is_late
        if time.monotonic() > deadline:
            is_late = True
            group.kill_all()
        time.sleep(0.005)


def read_end(file):
    """Returns the last MOST_OUTPUT_BYTES of what the command printed."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_OUTPUT_BYTES))
    return file.read().decode(errors="replace")


def run_command(command, limit_bytes, most_seconds):
    """Returns what was measured, and the texts that the command printed."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, \
            MemoryGroup(limit_bytes) as group:
        begin = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
            preexec_fn=group.join, start_new_session=True)
        try:
            exit_code, read_bytes, is_late = wait(process, group, most_seconds)
        finally:
            group.kill_all()  # all of it if interrupted, or a child that outlived the command
            process.wait()
        measured = {
            "wall_seconds": time.monotonic() - begin, "read_bytes": read_bytes,
            "peak_bytes": group.peak_bytes(), "exit_code": exit_code}
        return measured, is_late, group.oom_kills(), (read_end(output), read_end(errors))


def figures_of(job, output):
    """Returns the figures; raises ValueError if the output has none."""
    if "reader" not in job:
        return read_figures(output)
    done = subprocess.run(job["reader"], input=output, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError("its report cannot be read: " + last_words(done.stderr))
    return read_figures(done.stdout)


def describe_failure(job, exit_code, errors, output, fault):
    if exit_code == 0:
        return "%s; run it by hand: %s" % (fault, " ".join(job["command"]))
    words = last_words(errors) or last_words(output) or "it said nothing"
    if exit_code < 0:
        return "signal %d: %s" % (-exit_code, words)
    return "exit status %d: %s" % (exit_code, words)


def run(job, limit_bytes, most_seconds):
    """Returns the outcome; raises Refused if the run cannot be tried."""
    for path in job.get("files", []):
        drop_from_cache(path)
    try:
        command = [str(limit_bytes) if word == "{limit_bytes}" else word
                   for word in job["command"]]
        measured, is_late, oom_kills, (output, errors) = run_command(
            command, limit_bytes, most_seconds)
    except FileNotFoundError as error:
        return {"verdict": "error", "detail": str(error)}
    figures, fault = {}, ""
    if measured["exit_code"] == 0 and not is_late:
        try:
            figures = figures_of(job, output)
        except ValueError as error:
            fault = str(error)
    verdict = judge(measured["exit_code"], is_late, oom_kills, figures)
    outcome = {"verdict": verdict, **measured, **figures}
    if figures:
        outcome["tokens_per_second"] = figures["tokens"] / figures["seconds"]
    if verdict == "error":
        outcome["detail"] = describe_failure(job, measured["exit_code"], errors, output, fault)
    return outcome
