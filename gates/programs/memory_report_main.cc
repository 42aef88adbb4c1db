// The table of the memory that each test of a workspace took.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/test_memory/memory_report.h"
#include "footprint/gates/test_memory/recorded_tests.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Prints how much memory each test took, the largest first.

  bazel test --config=memory_report //...
  bazel run //gates:memory_report

The first command runs every test under record_test, which measures it from
outside and leaves its verdict, output and caching as they are. The second
command reads the records from the folder bazel-testlogs. It shows each test
whose last run was recorded, in this invocation or an older one. These commands
show only the tests of one invocation:

  bazel test --config=memory_report --build_event_json_file=/tmp/events //...
  bazel run //gates:memory_report -- --events=/tmp/events

Flags
  --events=FILE      a file of Bazel's build events, which names the tests of one
                     invocation and the status of each
  --testlogs=FOLDER  the folder of test logs (default: bazel-testlogs of the
                     workspace)
  --format=FORMAT    text, json, markdown or html (default: text)
  --output=FILE      the file to write (default: standard output)
  --help             print this text

The peak is the highest resident set of a test and its child processes; a page
that several of them share counts once. The peak of a sharded test is that of its
largest shard.

Exit status: 0 each test has a peak; 1 a test has no peak; 2 a mistake, which the
message names.
)";

constexpr char kProgram[] = "memory_report";
constexpr int kIncomplete = 1;

absl::StatusOr<std::vector<RecordedTest>> ReadTests(const CommandFlags& flags) {
  if (flags.Has("events")) {
    return ReadTestEvents(PathOfCaller(flags.Value("events", "")));
  }
  const std::string workspace = EnvironmentValue("BUILD_WORKSPACE_DIRECTORY");
  if (!flags.Has("testlogs") && workspace.empty()) {
    return absl::InvalidArgumentError(
        "start this program with bazel run, which tells it the workspace, or "
        "name --testlogs=");
  }
  const std::string folder = flags.Has("testlogs")
                                 ? PathOfCaller(flags.Value("testlogs", ""))
                                 : absl::StrCat(workspace, "/bazel-testlogs");
  absl::StatusOr<std::vector<RecordedTest>> tests = FindRecordedTests(folder);
  if (tests.ok() && tests->empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": no test there was recorded; run bazel test "
                     "--config=memory_report, and then this with the same -c"));
  }
  return tests;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments, {"events", "testlogs", "format", "output"}, {"help"});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  }
  const std::string format = flags->Value("format", "text");
  const absl::Status known = CheckReportWriter(format);
  if (!known.ok()) return Complain(kProgram, known.message());
  const absl::StatusOr<std::vector<RecordedTest>> tests = ReadTests(*flags);
  if (!tests.ok()) return Complain(kProgram, tests.status().message());
  const bool is_complete = std::all_of(
      tests->begin(), tests->end(),
      [](const RecordedTest& test) { return test.record.has_value(); });
  const std::string output = flags->Value("output", "");
  return FinishProgram(
      kProgram,
      WriteReportAs(format, MakeMemoryReport(*tests), OptionsFor(output)),
      output, is_complete ? 0 : kIncomplete);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
