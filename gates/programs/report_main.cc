// Writes the verdict as a page. memory_gate_suite runs it and gives it a
// manifest.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/gate_page.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Writes the verdict as one page that needs no network: what was decided, the
nearest margins, memory by phase and by size, and how each limit came to be.

  bazel run //gates:report                         writes memory_gates.html here
  bazel run //gates:report -- --output=/tmp/x.html
  bazel run //gates:report -- --output=-           to standard output

Flags
  --output=FILE  the file to write, which is replaced if it exists
  --help         print this text

Exit status: 0 the page is written, whatever the decision is (//gates:check has
the decision as its exit status); 2 a mistake, which the message names.
)";

constexpr char kProgram[] = "report";

int Report(const CommandFlags& flags) {
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  const std::string page = WriteGatePage(suite->input, suite->verdict);
  const std::string output = flags.Value("output", "memory_gates.html");
  if (output.empty()) return Complain(kProgram, "--output= names no file");
  if (output == "-") return FinishProgram(kProgram, page, "", 0);
  const int written = FinishProgram(kProgram, page, output, 0);
  if (written != 0) return written;
  return FinishProgram(kProgram,
                       absl::StrCat(SummaryLine(suite->verdict), "\n",
                                    PathOfCaller(output), " is written\n"),
                       "", 0);
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = ParseSuiteFlags(arguments, {}, {});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  return Report(*flags);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
