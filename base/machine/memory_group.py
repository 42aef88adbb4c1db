"""A memory control group, of version 2 or 1, for the processes of one run.

    with MemoryGroup(limit_bytes=64 << 20) as group:
        process = subprocess.Popen(command, preexec_fn=group.join)
        process.wait()
        print(group.peak_bytes(), group.oom_kills())

The group counts the page cache, and its processes get no swap. Needs root. A group
without a limit only measures: if it cannot be made, its figures are None.
"""

import contextlib
import os
import signal
import time


class MemoryGroup:
    """A control group that exists inside of a with statement."""

    ROOT = "/sys/fs/cgroup"

    def __init__(self, limit_bytes=None):
        unified = os.path.exists(self.ROOT + "/cgroup.controllers")
        self._folder = "%s%s/footprint.%d" % (
            self.ROOT, "" if unified else "/memory", os.getpid())
        self._limit = "memory.max" if unified else "memory.limit_in_bytes"
        self._peak = "memory.peak" if unified else "memory.max_usage_in_bytes"
        self._kills = "memory.events" if unified else "memory.oom_control"
        self._no_swap = "memory.swap.max" if unified else "memory.swappiness"
        self._limit_bytes = limit_bytes
        self._exists = False

    def __enter__(self):
        """Raises OSError if a group with a limit cannot be made."""
        try:
            os.mkdir(self._folder)
            self._exists = True
            if self._limit_bytes is not None:
                self._set_limit()
        except OSError:
            if self._limit_bytes is not None:
                self._remove()
                raise
        return self

    def __exit__(self, *unused):
        self._remove()

    def join(self):
        """Joins the group; the process itself calls this."""
        if self._exists:
            with open(self._folder + "/cgroup.procs", "w", encoding="ascii") as file:
                file.write("0")

    def peak_bytes(self):
        """Returns the peak in bytes, or None if it is not measured."""
        text = self._read(self._peak)
        return None if text is None else int(text)

    def oom_kills(self):
        """Returns how many processes the kernel killed for the limit, or None if unknown."""
        for line in (self._read(self._kills) or "").splitlines():
            name, number = line.split()
            if name == "oom_kill":
                return int(number)
        return None

    def kill_all(self):
        """Sends SIGKILL to each process that is in the group now."""
        for pid in (self._read("cgroup.procs") or "").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def _set_limit(self):
        self._write(self._limit, self._limit_bytes)
        with contextlib.suppress(OSError):  # a kernel that does not account for swap
            self._write(self._no_swap, 0)

    def _remove(self):
        if not self._exists:
            return
        deadline = time.monotonic() + 10
        while True:
            try:
                os.rmdir(self._folder)
                break
            except OSError:  # a process that was killed has not ended yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._exists = False

    def _read(self, name):
        try:
            with open("%s/%s" % (self._folder, name), encoding="ascii") as file:
                return file.read()
        except OSError:
            return None

    def _write(self, name, number):
        with open("%s/%s" % (self._folder, name), "w", encoding="ascii") as file:
            file.write(str(number))
