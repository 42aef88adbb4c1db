"""Tests of compile_commands on a few actions as aquery prints them."""

import unittest

import compile_commands


def action(source, *flags):
    return {"arguments": ["gcc", *flags, "-c", source, "-o", source + ".o"]}


class CompileCommandsTest(unittest.TestCase):
    def test_lists_own_sources_sorted_and_once(self):
        entries = compile_commands.compile_commands(
            {"actions": [action("b/b.cc"), action("a/a.cc"), action("b/b.cc", "-g")]},
            "/execroot",
        )
        self.assertEqual([entry["file"] for entry in entries], ["a/a.cc", "b/b.cc"])
        self.assertEqual(entries[1]["arguments"][1], "-c")

    def test_leaves_out_other_repositories_and_generated_code(self):
        entries = compile_commands.compile_commands(
            {"actions": [action("external/x/x.cc"), action("bazel-out/k8/x.pb.cc")]}, "/"
        )
        self.assertEqual(entries, [])

    def test_leaves_out_assembly(self):
        entries = compile_commands.compile_commands(
            {"actions": [action("a/embedded.S"), action("a/a.cc")]}, "/")
        self.assertEqual([entry["file"] for entry in entries], ["a/a.cc"])

    def test_drops_flags_that_clang_does_not_know(self):
        entries = compile_commands.compile_commands(
            {"actions": [action("a.cc", "-fno-canonical-system-headers", "-O2")]}, "/"
        )
        self.assertEqual(entries[0]["arguments"][:2], ["gcc", "-O2"])

    def test_an_action_that_compiles_nothing_is_no_entry(self):
        self.assertEqual(
            compile_commands.compile_commands({"actions": [{"arguments": ["ar", "-c"]}]}, "/"), []
        )


if __name__ == "__main__":
    unittest.main()
