"""Limits of the memory of tests, as the marks of the pytest plugin give them.

    limits = read_limits(item.iter_markers())
    limits.memory.limit_bytes   # 24000000 for @pytest.mark.limit_memory("24 MB")

A number of bytes is read as the gates and `memprof --limit` read it: a whole or
decimal number, then B, KiB, MiB, GiB, TiB, kB, MB, GB, TB or nothing. Raises
LimitError with what to write instead.
"""

import collections
import fractions
import re

UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("kMGT", start=1):
    UNITS[_letter + "B"] = 1000**_power
    UNITS[_letter.upper() + "iB"] = 1024**_power

_NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?(.*)", re.ASCII | re.DOTALL)


class LimitError(Exception):
    """Says what is wrong with a mark, and what to write."""


# `text` is the limit as the mark gives it, for messages.
Limit = collections.namedtuple("Limit", "text limit_bytes")
# Limits that a test does not have are None.
Limits = collections.namedtuple("Limits", "memory leaks warmups")


def parse_bytes(text):
    """Returns the number of bytes that a text or a number names."""
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        return text
    if not isinstance(text, str):
        raise LimitError("%r is not a number of bytes: write for example \"24 MB\"" % (text,))
    match = _NUMBER.fullmatch(text)
    if not match:
        raise LimitError("%r is not a number of bytes: it begins with no number; write "
                         "for example \"24 MB\"" % text)
    if match[2] not in UNITS:
        raise LimitError(
            "%r is not a number of bytes: %r is not B, KiB, MiB, GiB, TiB, kB, MB, GB or "
            "TB; write for example \"24 MB\"" % (text, match[2]))
    count = int(fractions.Fraction(match[1]) * UNITS[match[2]])
    if count >= 2**63:
        raise LimitError("%r is not a number of bytes: it is 2^63 or more" % text)
    return count


def format_bytes(count):
    """Returns a count of bytes for people, in units of 1,024."""
    if abs(count) < 1024:
        return "%d B" % count
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 999.5 or unit == "TiB":
            return "%.1f %s" % (value, unit)
    raise AssertionError


def _read_limit(mark, options=()):
    name = mark.name
    unknown = sorted(set(mark.kwargs) - set(options))
    if unknown:
        raise LimitError("%s knows no %s=; write @pytest.mark.%s(\"24 MB\")"
                         % (name, unknown[0], name))
    if len(mark.args) != 1:
        raise LimitError("%s takes one limit, not %d: write @pytest.mark.%s(\"24 MB\")"
                         % (name, len(mark.args), name))
    try:
        return Limit(str(mark.args[0]), parse_bytes(mark.args[0]))
    except LimitError as error:
        raise LimitError("%s: %s" % (name, error)) from None


def read_limits(marks):
    """Returns the limits of a test; of several marks of a kind, the closest counts."""
    memory = leaks = None
    warmups = 0
    for mark in marks:
        if mark.name == "limit_memory" and memory is None:
            memory = _read_limit(mark)
        elif mark.name == "limit_leaks" and leaks is None:
            leaks = _read_limit(mark, options=("warmups",))
            warmups = mark.kwargs.get("warmups", 0)
            if not isinstance(warmups, int) or isinstance(warmups, bool) or warmups < 0:
                raise LimitError("limit_leaks: warmups=%r is not a number of runs" % (warmups,))
    return Limits(memory, leaks, warmups)
