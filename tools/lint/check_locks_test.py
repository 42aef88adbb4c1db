"""Tests of check_locks: of its patterns, and of what clang finds in testdata."""

import os
import pathlib
import re
import tempfile
import unittest

import check_locks

_FOLDER = pathlib.Path(__file__).parent
_PLANTED = _FOLDER / "testdata" / "unguarded_access.cc"


def findings(text=None):
    """Returns the lines in which clang finds faults, in a text or in the planted source."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as work:
        work = pathlib.Path(work)
        (work / "footprint").symlink_to(_FOLDER.parent.parent.absolute())
        source = _PLANTED
        if text is not None:
            source = work / "source.cc"
            source.write_text(text)
        output = check_locks.check_source(source, [work])
    lines = {int(match[1]) for match in re.finditer(
        r"^[^\n]*\.cc:(\d+):\d+: error: [^\n]*\[-Werror,-Wthread-safety", output, re.M)}
    return lines, output


class ClangTest(unittest.TestCase):
    def test_finds_each_planted_fault_and_nothing_else(self):
        planted = {number for number, line in enumerate(_PLANTED.read_text().split("\n"), start=1)
                   if line.endswith("// found")}
        self.assertEqual(len(planted), 8)
        lines, output = findings()
        self.assertEqual(lines, planted, output)

    def test_is_silent_where_all_is_guarded(self):
        text = "\n".join(line for line in _PLANTED.read_text().split("\n")
                         if "// found" not in line or line.startswith("}"))
        text = text.replace("  lock.Lock();\n  live_bytes = bytes;\n", "")
        self.assertEqual(findings(text), (set(), ""))

    def test_a_source_that_does_not_compile_is_a_finding(self):
        self.assertIn("expected", findings("int main( {}")[1])


class IncludesTest(unittest.TestCase):
    def test_the_folder_of_another_tree_is_of_this_one_afterwards(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            folder = pathlib.Path(folder)
            for tree in ("a", "b"):
                (folder / tree).mkdir()
                (folder / tree / (tree + ".proto")).write_text('syntax = "proto3";\n')
                include, _ = check_locks.prepare_includes(
                    folder / tree, folder / "work", [tree + ".proto"])
                self.assertTrue((include / "footprint" / (tree + ".proto")).is_file())


class PatternsTest(unittest.TestCase):
    def test_other_mutexes_are_found_outside_of_the_room(self):
        texts = {"memo/a.cc": "#include <mutex>\nstd::mutex a;\n// std::mutex in a comment\n",
                 "memo/b.h": "pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;\nstd::shared_mutex c;",
                 "memo/c.cc": "while (taken.exchange(true)) {}",
                 "base/threads/mutex.h": "std::mutex mutex_;",
                 "memo/d.cc": "class ABSL_LOCKABLE SpinLock {\nwhile (taken.exchange(true)) {}"}
        self.assertEqual([line.split(": clang")[0] for line in check_locks.other_mutexes(texts)],
                         ["memo/a.cc:2: std::mutex", "memo/b.h:1: pthread_mutex_t",
                          "memo/b.h:2: std::shared_mutex",
                          "memo/c.cc:1: while (taken.exchange(true"])

    def test_a_mutex_that_no_annotation_names_guards_nothing(self):
        texts = {"memo/a.cc": "PthreadMutex lock = PthreadMutex::Adaptive();\nint a;\n",
                 "memo/b.h": "  mutable Mutex mutex_;\n  int b ABSL_GUARDED_BY(mutex_);\n",
                 "memo/c.h": "  Mutex mutex_;\n  // int b ABSL_GUARDED_BY(mutex_)\n",
                 "memo/d.h": "inline Mutex memos;\nvoid F() ABSL_EXCLUSIVE_LOCKS_REQUIRED(a.memos);\n",
                 "memo/e.h": "PthreadMutex lock;\nint e ABSL_GUARDED_BY(other_lock);\n"}
        self.assertEqual([line.split(":")[:2] for line in check_locks.mutexes_that_guard_nothing(texts)],
                         [["memo/a.cc", "1"], ["memo/c.h", "1"], ["memo/e.h", "1"]])

    def test_sources_that_reach_a_mutex_are_checked(self):
        texts = {"base/threads/mutex.h": "",
                 "memo/a.h": '#include "footprint/base/threads/mutex.h"\n#include "footprint/memo/b.h"\n',
                 "memo/b.h": '#include "footprint/memo/a.h"\n',
                 "memo/b.cc": '#include "footprint/memo/b.h"\n',
                 "memo/c.cc": '#include <vector>\n',
                 "memo/d.cc": '#include "absl/base/thread_annotations.h"\n'}
        self.assertEqual(check_locks.sources_to_check(texts), ["memo/b.cc", "memo/d.cc"])

    def test_a_source_is_checked_with_each_of_its_macros(self):
        text = ("#ifndef FOOTPRINT_MEMO_A_H_\n#ifdef FOOTPRINT_ONE\n#endif\n"
                "#ifndef FOOTPRINT_TWO\n#endif\n#ifdef __clang__\n#endif\n"
                "#ifdef FOOTPRINT_HAS_LEVELDB\n#endif\n")
        self.assertEqual(check_locks.variants(text), [[], ["-DFOOTPRINT_ONE"], ["-DFOOTPRINT_TWO"]])


if __name__ == "__main__":
    unittest.main()
