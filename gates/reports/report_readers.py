"""Reads reports of a verdict with software that this project did not write.

report_readers.py FOLDER: the folder holds a report of each format and
expected.json with the counts to find. SARIF goes through the object model that
Microsoft generated from the standard's schema (python3-sarif-python-om), JUnit
through python3-junitparser, OpenMetrics through the Prometheus project's parser
(python3-prometheus-client).
"""

import json
import pathlib
import re
import sys

import junitparser
import sarif_om
from prometheus_client.openmetrics.parser import text_string_to_metric_families

# The class of the schema for each property.
SARIF_CLASSES = {
    "runs": "Run",
    "tool": "Tool",
    "driver": "ToolComponent",
    "rules": "ReportingDescriptor",
    "shortDescription": "MultiformatMessageString",
    "invocations": "Invocation",
    "toolExecutionNotifications": "Notification",
    "results": "Result",
    "message": "Message",
    "locations": "Location",
    "physicalLocation": "PhysicalLocation",
    "artifactLocation": "ArtifactLocation",
    "region": "Region",
    "logicalLocations": "LogicalLocation",
}
# Properties whose content the schema leaves open.
SARIF_OPEN = {"properties", "partialFingerprints"}
SARIF_LEVELS = {"none", "note", "warning", "error"}


def read_sarif(value, class_name):
    """Returns an object of the model; fails for a property that the class lacks,
    or a required one that is missing."""
    model = getattr(sarif_om, class_name)
    names = {
        attribute.metadata["schema_property_name"]: attribute.name
        for attribute in model.__attrs_attrs__
    }
    arguments = {}
    for key, member in value.items():
        assert key in names, f"{class_name} has no property {key}"
        if key not in SARIF_OPEN and key in SARIF_CLASSES:
            read = lambda item, name=SARIF_CLASSES[key]: read_sarif(item, name)
            member = (
                [read(item) for item in member]
                if isinstance(member, list)
                else read(member)
            )
        elif key not in SARIF_OPEN:
            assert not isinstance(member, (dict, list)), key
        arguments[names[key]] = member
    return model(**arguments)


def check_sarif(folder, expected):
    raw = json.loads((folder / "verdict.sarif").read_text(encoding="utf-8"))
    log = read_sarif(raw, "SarifLog")
    assert log.version == "2.1.0"
    (run,) = log.runs
    assert len(run.results) == expected["sarif_results"], len(run.results)
    ids = [rule.id for rule in run.tool.driver.rules]
    assert len(set(ids)) == len(ids)
    for result in run.results:
        assert result.level in SARIF_LEVELS
        assert (result.kind == "fail") == (result.level != "none")
        assert ids[result.rule_index] == result.rule_id
        for location in result.locations:
            region = location.physical_location and location.physical_location.region
            assert not region or region.start_line >= 1


def check_junit(folder, expected):
    suites = junitparser.JUnitXml.fromfile(str(folder / "verdict.xml"))
    cases = [case for suite in suites for case in suite]
    kinds = [type(result) for case in cases for result in case.result]
    assert len(cases) == suites.tests == expected["junit_cases"], len(cases)
    assert kinds.count(junitparser.Failure) == suites.failures == expected["rejected"]
    assert kinds.count(junitparser.Error) == suites.errors == expected["errors"]


def check_openmetrics(folder, expected):
    text = (folder / "verdict.openmetrics.txt").read_text(encoding="utf-8")
    families = {
        family.name: family.samples for family in text_string_to_metric_families(text)
    }
    (decision,) = families["footprint_gate_decision"]
    assert decision.value == expected["decision"]
    names = {
        sample.labels["benchmark"] for sample in families["footprint_gate_holds"]
    }
    assert names == set(expected["benchmarks"]), names ^ set(expected["benchmarks"])


def check_gitlab(folder, expected):
    """Follows GitLab's documentation, since no independent reader was available."""
    issues = json.loads((folder / "verdict.gitlab.json").read_text(encoding="utf-8"))
    assert len(issues) == expected["findings"]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue in issues:
        assert isinstance(issue["description"], str) and issue["description"]
        assert isinstance(issue["check_name"], str) and issue["check_name"]
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        path = issue["location"]["path"]
        assert path and not path.startswith(("./", "/")), path
        assert issue["location"]["lines"]["begin"] >= 1


def check_github(folder, expected):
    """Follows GitHub's documentation, since no independent reader was available."""
    log = (folder / "verdict.github.txt").read_text(encoding="utf-8")
    begin, word, rest = re.match(
        r"(::stop-commands::(\S+)\n)(.*)\Z", log, re.DOTALL
    ).groups()
    text, commands = rest.split(f"::{word}::\n")
    commands = commands.splitlines()
    for command in commands:
        assert re.match(r"::(error|warning|notice) title=[^:,]*(,[a-z]+=[^:,]*)*::", command)
    for kind in ("error", "warning", "notice"):
        assert sum(c.startswith(f"::{kind} ") for c in commands) <= 10, kind
    assert len((folder / "verdict.github.md").read_bytes()) <= 1024 * 1024


def main(folder):
    folder = pathlib.Path(folder)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for check in (check_sarif, check_junit, check_openmetrics, check_gitlab, check_github):
        check(folder, expected)
    print("all read")


if __name__ == "__main__":
    main(sys.argv[1])
