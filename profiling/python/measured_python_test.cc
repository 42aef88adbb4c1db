// Runs real interpreters under the agent: each line's bytes are those that the
// script requested there.

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/python/tested_interpreters.h"
#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/symbols/python_lines.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kAgent[] = "profiling/agent/agent.so";

std::string Absolute(const std::string& path) {
  char* const found = realpath(path.c_str(), nullptr);
  std::string absolute = found == nullptr ? path : found;
  std::free(found);
  return absolute;
}

// A script that ran under the agent, each allocation recorded.
class PythonRun {
 public:
  PythonRun(const std::string& python, const std::string& script,
            std::vector<std::string> environment = {},
            std::vector<std::string> options = {}, bool measured = true) {
    static int count = 0;
    folder_ = absl::StrCat(testing::TempDir(), "/run", getpid(), "_", ++count);
    mkdir(folder_.c_str(), 0700);
    script_ = folder_ + "/train.py";
    std::ofstream(script_) << script;
    const std::string output = folder_ + "/output";
    std::vector<std::string> arguments = {python};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(script_);
    if (measured) environment.push_back("LD_PRELOAD=" + Absolute(kAgent));
    environment.push_back("FOOTPRINT_MEMPROF_FOLDER=" + folder_);
    environment.push_back("FOOTPRINT_MEMPROF_SAMPLING_INTERVAL=0");
    environment.push_back("PYTHONHASHSEED=0");
    environment.push_back("PATH=/usr/bin:/bin");
    environment.push_back("TMPDIR=/tmp");
    status_ = Run(arguments, environment, output);
    std::stringstream text;
    text << std::ifstream(output).rdbuf();
    output_ = text.str();
    absl::StatusOr<std::vector<MeasuredProcess>> processes =
        ReadRecords(folder_);
    EXPECT_THAT(processes, IsOk());
    if (processes.ok()) processes_ = *std::move(processes);
  }

  int status() const { return status_; }
  const std::string& output() const { return output_; }
  const std::string& folder() const { return folder_; }
  const std::vector<MeasuredProcess>& processes() const { return processes_; }

  // Returns the bytes at the peak by the innermost call in the script:
  // "fit:12".
  std::map<std::string, int64_t> BytesByLine(size_t process = 0) const {
    std::map<std::string, int64_t> bytes;
    const SiteProfile& sites = *processes_.at(process).sites;
    for (const SiteProfile::Site& site : sites.sites) {
      bytes[DescribePlace(process, site)] += site.at_peak.bytes;
    }
    return bytes;
  }

  std::map<std::string, int64_t> AllocatedByLine(size_t process) const {
    std::map<std::string, int64_t> bytes;
    for (const SiteProfile::Site& site : processes_.at(process).sites->sites) {
      bytes[DescribePlace(process, site)] += site.allocated.bytes;
    }
    return bytes;
  }

  // The calls of the script that lead to the largest site, the outermost first,
  // as "main:20 fit:12".
  std::string StackOfLargest(size_t process = 0) const {
    const SiteProfile& sites = *processes_.at(process).sites;
    const SiteProfile::Site* largest = &sites.sites.front();
    for (const SiteProfile::Site& site : sites.sites) {
      if (site.allocated.bytes > largest->allocated.bytes) largest = &site;
    }
    std::string stack;
    for (int i = largest->node; i != SiteProfile::kNone;) {
      const SiteProfile::Node& node = sites.nodes[static_cast<size_t>(i)];
      const std::string name = FindName(process, node);
      if (!name.empty()) {
        stack = stack.empty() ? name : absl::StrCat(name, " ", stack);
      }
      i = node.parent;
    }
    return stack;
  }

 private:
  static int Run(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment,
                 const std::string& output) {
    const auto pointers = [](const std::vector<std::string>& strings) {
      std::vector<char*> result;
      for (const std::string& each : strings) {
        result.push_back(const_cast<char*>(each.c_str()));
      }
      result.push_back(nullptr);
      return result;
    };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(),
                                     O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t process = 0;
    EXPECT_EQ(
        posix_spawn(&process, arguments[0].c_str(), &actions, nullptr,
                    pointers(arguments).data(), pointers(environment).data()),
        0);
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    return status;
  }

  // Returns "" if it is not a call in the script.
  std::string FindName(size_t process, const SiteProfile::Node& node) const {
    if (node.python_code == CallTree::kNone) return "";
    const PythonCodes& python = *processes_.at(process).python;
    const PythonCodes::Code& code =
        python.codes.at(static_cast<size_t>(node.python_code));
    if (!absl::EndsWith(code.file, "/train.py") && code.file != "<string>") {
      return "";
    }
    return absl::StrCat(code.name, ":",
                        FindPythonLine(code.line_table, code.first_line,
                                       node.python_instruction));
  }

  std::string DescribePlace(size_t process,
                            const SiteProfile::Site& site) const {
    const SiteProfile& sites = *processes_.at(process).sites;
    for (int i = site.node; i != SiteProfile::kNone;) {
      const SiteProfile::Node& node = sites.nodes[static_cast<size_t>(i)];
      const std::string name = FindName(process, node);
      if (!name.empty()) return name;
      i = node.parent;
    }
    return "";
  }

  std::string folder_;
  std::string script_;
  std::string output_;
  int status_ = -1;
  std::vector<MeasuredProcess> processes_;
};

std::string WithoutFolder(const PythonRun& run) {
  return absl::StrReplaceAll(run.output(), {{run.folder(), ""}});
}

class MeasuredPythonTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Versions, MeasuredPythonTest,
                         testing::ValuesIn(TestedInterpreters()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MeasuredPythonTest);

TEST(MeasuredPythonsTest, ThereIsAnInterpreter) {
  if (TestedInterpreters().empty())
    GTEST_SKIP() << "no /usr/bin/python3: nothing checked";
}

// glibc rounds a large block to whole pages, with a header in the first.
constexpr int64_t kRoundingBytes = 4096 + 24;

TEST_P(MeasuredPythonTest, BytesAreThoseOfTheirLines) {
  const PythonRun run(GetParam(), R"(
import sys
def hold():
    a = bytearray(1048575)
    b = bytearray(2097151)
    c = [None] * 65536
    return a, b, c
def main():
    kept = hold()
    temporary = bytearray(8388607)
    del temporary
    return kept
kept = main()
print(len(kept))
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  EXPECT_EQ(run.output(), "3\n");
  ASSERT_TRUE(run.processes()[0].python.has_value());
  EXPECT_TRUE(run.processes()[0].python->has_calls);
  EXPECT_TRUE(run.processes()[0].python->objects_are_counted);
  // Reports recognise the interpreter's own calls by its module's start.
  std::string interpreter;
  for (const CallTree::Module& module : run.processes()[0].sites->modules) {
    if (module.begin_address ==
        run.processes()[0].python->module_begin_address) {
      interpreter = module.path;
    }
  }
  EXPECT_TRUE(absl::StrContains(interpreter, "python")) << interpreter;
  std::map<std::string, int64_t> bytes = run.BytesByLine();
  // A bytearray requests one byte more than it holds. Each has a small object
  // of at most 128 bytes.
  const auto expect_near = [&](const char* line, int64_t expected) {
    EXPECT_GE(bytes[line], expected) << line;
    EXPECT_LE(bytes[line], expected + kRoundingBytes + 128) << line;
  };
  expect_near("hold:4", 1048576);
  expect_near("hold:5", 2097152);
  expect_near("hold:6", 524288);
  expect_near("main:10", 8388608);
  EXPECT_EQ(run.StackOfLargest(), "<module>:13 main:10");
}

// If each allocation is recorded, rows add up to the peak.
TEST_P(MeasuredPythonTest, LinesAddUpToThePeak) {
  const PythonRun run(GetParam(), R"(
import json
rows = [{"a": i, "b": str(i)} for i in range(5000)]
text = json.dumps(rows)
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  int64_t sum = 0;
  for (const auto& [line, bytes] : run.BytesByLine()) sum += bytes;
  EXPECT_EQ(sum, run.processes()[0].figures.peak_live_bytes());
}

// Python's own small objects: 1,000 floats of 24 bytes come to a line.
TEST_P(MeasuredPythonTest, SmallObjectsAreCounted) {
  const PythonRun run(GetParam(), R"(
def make():
    rows = [None] * 10000
    for i in range(10000):
        rows[i] = i + 0.5
    return rows
rows = make()
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  const int64_t bytes = run.BytesByLine()["make:5"];
  EXPECT_GE(bytes, 10000 * 24);
  EXPECT_LE(bytes, 10000 * 32 + 1000);
}

TEST_P(MeasuredPythonTest, StacksGoThroughNativeCode) {
  const PythonRun run(GetParam(), R"(
import functools
class Model:
    def __len__(self):
        self.kept = bytearray(4194303)
        return 1
def traced(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper
@traced
def measure(model):
    return sorted([model], key=lambda m: len(m))
def generate():
    yield measure(Model())
def main():
    for x in generate():
        pass
main()
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  EXPECT_EQ(run.StackOfLargest(),
            "<module>:20 main:18 generate:16 traced.<locals>.wrapper:10 "
            "measure:14 measure.<locals>.<lambda>:14 Model.__len__:5");
}

TEST_P(MeasuredPythonTest, ThreadsHaveStacksOfTheirOwn) {
  const PythonRun run(GetParam(), R"(
import threading
kept = []
def first():
    kept.append(bytearray(1048575))
def second():
    kept.append(bytearray(2097151))
threads = [threading.Thread(target=f) for f in (first, second) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  std::map<std::string, int64_t> bytes = run.BytesByLine();
  EXPECT_NEAR(static_cast<double>(bytes["first:5"]), 4 * 1048576,
              4 * kRoundingBytes + 2000);
  EXPECT_NEAR(static_cast<double>(bytes["second:7"]), 4 * 2097152,
              4 * kRoundingBytes + 2000);
}

TEST_P(MeasuredPythonTest, ExceptionsExecutedCodeAndDeepCalls) {
  const PythonRun run(GetParam(), R"(
import sys
sys.setrecursionlimit(5000)
def deep(n):
    if n == 0:
        return bytearray(1048575)
    return deep(n - 1)
def fail():
    try:
        raise ValueError(bytearray(2097151))
    except ValueError as error:
        return error
exec("def made():\n  return bytearray(4194303)\n")
kept = [deep(900), fail(), made()]
for i in range(2000):
    eval("%d + 1" % i)
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  std::map<std::string, int64_t> bytes = run.BytesByLine();
  EXPECT_NEAR(static_cast<double>(bytes["deep:6"]), 1048576,
              kRoundingBytes + 200);
  EXPECT_NEAR(static_cast<double>(bytes["fail:10"]), 2097152,
              kRoundingBytes + 2000);
  EXPECT_NEAR(static_cast<double>(bytes["made:2"]), 4194304,
              kRoundingBytes + 200);
}

TEST_P(MeasuredPythonTest, ChildrenHaveRecordsOfTheirOwn) {
  const PythonRun run(GetParam(), R"(
import multiprocessing, sys
def work(n):
    kept = bytearray(1048576 * n - 1)
    return len(kept)
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, sum(pool.map(work, [1, 2, 3])))
)");
  ASSERT_EQ(run.status(), 0) << run.output();
  EXPECT_EQ(run.output(), "fork 6291453\nspawn 6291453\nforkserver 6291453\n");
  int64_t bytes = 0;
  for (size_t i = 0; i < run.processes().size(); ++i) {
    ASSERT_TRUE(run.processes()[i].python.has_value()) << i;
    bytes += run.AllocatedByLine(i)["work:4"];
  }
  // The pool's end kills the children, so only the sum over them is known.
  EXPECT_GE(bytes, 3 * (1 + 2 + 3) * 1048576);
  EXPECT_LE(bytes, 3 * (1 + 2 + 3) * 1048576 + 9 * (kRoundingBytes + 1000));
}

TEST_P(MeasuredPythonTest, AScriptThatEndsAtOnce) {
  const PythonRun run(GetParam(), R"(
import os
kept = bytearray(1048575)
os._exit(3)
)");
  EXPECT_EQ(WEXITSTATUS(run.status()), 3);
  EXPECT_NEAR(static_cast<double>(run.BytesByLine()["<module>:3"]), 1048576,
              kRoundingBytes + 2000);
}

// Programs do not see that they are measured.
TEST_P(MeasuredPythonTest, TheOutputIsTheSame) {
  std::stringstream script;
  script << std::ifstream("profiling/python/testdata/many_parts.py").rdbuf();
  ASSERT_FALSE(script.str().empty());
  const PythonRun with(GetParam(), script.str());
  const PythonRun without(GetParam(), script.str(), {}, {},
                          /*measured=*/false);
  EXPECT_EQ(without.status(), 0) << without.output();
  EXPECT_EQ(with.status(), 0);
  EXPECT_EQ(WithoutFolder(with), WithoutFolder(without));
  EXPECT_TRUE(without.processes().empty());
}

// A user who chose an allocator for Python gets it, and the record says so.
TEST_P(MeasuredPythonTest, AChosenAllocatorStays) {
  const std::string script = "kept = [i + 0.5 for i in range(100000)]\n";
  for (bool by_option : {false, true}) {
    const PythonRun run(GetParam(), script,
                        by_option
                            ? std::vector<std::string>()
                            : std::vector<std::string>{"PYTHONMALLOC=pymalloc"},
                        by_option ? std::vector<std::string>{"-X", "dev"}
                                  : std::vector<std::string>());
    ASSERT_EQ(run.status(), 0) << run.output();
    EXPECT_FALSE(run.processes()[0].python->objects_are_counted) << by_option;
  }
}

}  // namespace
}  // namespace footprint
