"""Tests that what others' machines read can be read: the registry's templates
and the workflows, by parsers that are not ours."""

import json
import pathlib
import re
import unittest

import yaml

TREE = pathlib.Path(__file__).parent.parent.parent


def read_json(name):
    return json.loads((TREE / name).read_text())


def read_yaml(name):
    return yaml.safe_load((TREE / name).read_text())


def strings_of(value):
    """Returns every string in parsed JSON or YAML."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings_of(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings_of(part)]
    return [value] if isinstance(value, str) else []


def with_name(label):
    """Returns //memo:memo for @footprint//memo, and //:footprint for @footprint."""
    repository, _, path = label.partition("//")
    package, _, name = path.partition(":")
    return "//%s:%s" % (package, name or package.rpartition("/")[2] or repository.lstrip("@"))


class RegistryTemplatesTest(unittest.TestCase):
    def test_metadata_has_the_fields_that_the_registry_reads(self):
        metadata = read_json(".bcr/metadata.template.json")
        self.assertEqual(set(metadata),
                         {"homepage", "maintainers", "repository", "versions", "yanked_versions"})
        # The publisher's tool fills these two.
        self.assertEqual(metadata["versions"], [])
        self.assertEqual(metadata["yanked_versions"], {})

    def test_source_has_the_archives_folder(self):
        source = read_json(".bcr/source.template.json")
        self.assertEqual(set(source), {"integrity", "strip_prefix", "url"})
        self.assertEqual(source["strip_prefix"], "footprint-{VERSION}")
        self.assertEqual(source["integrity"], "")

    def test_presubmit_names_public_targets(self):
        task = read_yaml(".bcr/presubmit.yml")["tasks"]["verify_targets"]
        # Bazel's own answer: which of the labels in BUILD are there, and public.
        public = (TREE / "tools/release/public_targets").read_text().split()
        self.assertEqual(sorted(map(with_name, task["build_targets"])),
                         sorted(map(with_name, public)))

    def test_presubmit_has_every_value_that_it_substitutes(self):
        presubmit = read_yaml(".bcr/presubmit.yml")
        for part in (presubmit, presubmit["bcr_test_module"]):
            used = {name for text in strings_of(part["tasks"])
                    for name in re.findall(r"\$\{\{ (\w+) \}\}", text)}
            self.assertEqual(used, set(part["matrix"]))
            self.assertTrue(all(part["matrix"].values()))

    def test_presubmit_builds_with_the_flags_of_importers(self):
        task = read_yaml(".bcr/presubmit.yml")["tasks"]["verify_targets"]
        rc = (TREE / "tools/bazelrc/footprint.bazelrc").read_text()
        for flag in task["build_flags"]:
            self.assertIn(flag, rc)

    def test_presubmit_tests_a_module_that_is_here(self):
        # A link of the README, which tools/docs follows.
        module = read_yaml(".bcr/presubmit.yml")["bcr_test_module"]["module_path"]
        self.assertIn("](%s)" % module, (TREE / "README.md").read_text())


class LightModulesTest(unittest.TestCase):
    # Bazel's own answer: all that the public targets of a library are made of.
    NEEDS = {
        "footprint_lowmem": "lowmem/lowmem_aliases_needs",
        "footprint_memo": "memo/rooms_needs",
        "footprint_profiling": "profiling/profiling_aliases_needs",
        "footprint_trainer_manager": "trainer_manager/trainer_manager_aliases_needs",
    }

    # Rules that an importer of a library alone loads. Their attributes name
    # repositories that MODULE.bazel declares.
    RULES = {"footprint_profiling": "profiling/defs.bzl"}

    def repositories_of_rules(self, name):
        text = (TREE / self.RULES[name]).read_text() if name in self.RULES else ""
        return set(re.findall(r"@(footprint_\w+)//", text))

    def test_each_asks_for_the_modules_that_its_library_is_made_of(self):
        light = read_json(".bcr/light_modules.json")
        self.assertEqual(set(light), set(self.NEEDS))
        for name, path in self.NEEDS.items():
            labels = (TREE / path).read_text().split()
            made_of = {label[1:].partition("//")[0].lstrip("@") for label in labels
                       if label.startswith("@")}
            needs = made_of - {"bazel_tools"} | self.repositories_of_rules(name)
            self.assertEqual(sorted(needs), sorted(light[name]), name)


class WorkflowsTest(unittest.TestCase):
    def commands(self, name):
        return [text for text in strings_of(read_yaml(name)) if not text.startswith("#")]

    def test_each_sets_up_then_runs_what_ci_runs(self):
        for name in (".github/workflows/ci.yml", ".gitlab-ci.yml"):
            with self.subTest(name=name):
                commands = self.commands(name)
                self.assertLess(commands.index("tools/dev setup"), commands.index(".ci/run"))

    def test_each_runs_on_the_system_that_setup_knows(self):
        for name in (".github/workflows/ci.yml", ".gitlab-ci.yml"):
            self.assertIn("debian:12", self.commands(name), name)

    def test_github_begins_at_pushes_and_requests(self):
        # YAML 1.1 reads the key "on" as true.
        workflow = read_yaml(".github/workflows/ci.yml")
        self.assertEqual(set(workflow[True]), {"push", "pull_request"})
        for step in workflow["jobs"]["ci"]["steps"]:
            self.assertEqual(len({"run", "uses"} & set(step)), 1, step)


if __name__ == "__main__":
    unittest.main()
