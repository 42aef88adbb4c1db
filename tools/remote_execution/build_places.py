"""Reads where the actions and tests of a build ran, and where they may run.

remote_execution_test.py compares both. Tested by build_places_test.
"""

import collections
import json
import re


def count_actions(log):
    """Returns a count for each mnemonic and runner of an execution log in JSON.

    The log has some hundred megabytes, and a field of an action stands on a line of its own.
    """
    counts = collections.Counter()
    mnemonic = None
    field = re.compile(r'  "(mnemonic|runner)": "(.*)",?$')
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            match = field.match(line)
            if match and match[1] == "mnemonic":
                mnemonic = match[2]
            elif match:
                counts[mnemonic, match[2]] += 1
    return counts


def read_test_results(events):
    """Returns the statuses and the strategies of the tests in Bazel's build events."""
    statuses, strategies = {}, {}
    with open(events, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            identity = event["id"]
            if "testResult" in identity:
                label = identity["testResult"]["label"]
                strategy = event["testResult"].get("executionInfo", {}).get("strategy", "")
                strategies.setdefault(label, set()).add(strategy)
            elif "testSummary" in identity:
                statuses[identity["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
    return statuses, strategies


def listed_tests(page):
    """Returns the labels in the table of tests that stay on the machine."""
    _, heading, section = page.read_text(encoding="utf-8").partition("\n## Remote execution\n")
    if not heading:
        raise ValueError(f"{page} has no section 'Remote execution', which lists tests")
    section = section.split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `//")]
    return {label for row in rows for label in re.findall(r"`(//[^`]+)`", row.split("|")[1])}


def find_wrong_places(counts):
    """Returns the actions of the check that ran at another place than they should."""
    return [f"{count} {mnemonic} ran by '{runner}'"
            for (mnemonic, runner), count in sorted(counts.items())
            if not runner.startswith("remote") and mnemonic != "WholeProcessMemory"]
