// Plans the tensors of each CSV file in one arena. See `plan_arena --help`.

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/same_file.h"
#include "footprint/trainer_manager/plan_files/layout_picture.h"
#include "footprint/trainer_manager/plan_files/plan_csv.h"
#include "footprint/trainer_manager/planner/planner.h"

ABSL_FLAG(std::string, method, "portfolio",
          "how to plan: naive, first_fit, greedy_by_size, hill_climb, exact or "
          "portfolio");
ABSL_FLAG(int64_t, capacity, 0,
          "stop at the first plan of at most this many bytes, and fail if none "
          "is found; 0 looks for the lowest plan");
ABSL_FLAG(int64_t, alignment, 1,
          "alignment of every offset in bytes, a power of two");
ABSL_FLAG(int64_t, node_limit, 1'000'000,
          "maximum number of decisions of the exact search; a million take "
          "about a second");
ABSL_FLAG(absl::Duration, time_limit, absl::InfiniteDuration(),
          "stop the search after this time, and print the best plan so far");
ABSL_FLAG(std::string, output, "",
          "write the plan to this CSV file (one input only)");
ABSL_FLAG(std::string, picture, "",
          "draw the plan to this HTML file (one input only)");

namespace {

using footprint::AtomicFile;
using footprint::MemoryPlan;
using footprint::PlanMethod;
using footprint::PlanOptions;
using footprint::TensorRequest;

constexpr char kUsage[] =
    "Places tensors in one arena by their lifespans.\n\n"
    "  plan_arena [flags] FILE.csv|FOLDER ...\n\n"
    "A folder stands for the *.csv files in it. A file has the columns "
    "id,lower,upper,size and may have alignment: a "
    "tensor\nneeds `size` bytes from step `lower` until just before step "
    "`upper`.\n\n"
    "  id,lower,upper,size\n  activation,0,4,1024\n  gradient,3,6,512\n\n"
    "plan_arena prints for each file: the arena's height, the lower bound that "
    "no plan\ncan beat, their ratio (1 proves that the plan is minimal), the "
    "method that found\nthe plan, the number of decisions, the processor time, "
    "and the step whose live\ntensors prove the bound.\n\n"
    "  plan_arena --picture=plan.html --output=plan.csv network.csv\n"
    "  plan_arena --capacity=1048576 folder\n\n"
    "Exit status: 0 every file is planned; 1 no plan was found within "
    "--capacity;\n2 the command line or an input is wrong, or results could "
    "not be written.";

// The worse status is the larger number.
enum ExitStatus { kPlanned = 0, kDoesNotFit = 1, kBadInput = 2 };

double ProcessorMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

int Complain(const std::string& message, ExitStatus exit_status) {
  std::cerr << "plan_arena: " << message << "\n";
  return exit_status;
}

// Returns the name of a flag whose value is negative, or an empty text.
std::string NegativeFlag() {
  if (absl::GetFlag(FLAGS_capacity) < 0) return "--capacity";
  if (absl::GetFlag(FLAGS_node_limit) < 0) return "--node_limit";
  if (absl::GetFlag(FLAGS_time_limit) < absl::ZeroDuration()) {
    return "--time_limit";
  }
  return "";
}

// Returns false if no method has the name in --method.
bool ReadFlags(PlanOptions* options) {
  options->alignment_bytes = absl::GetFlag(FLAGS_alignment);
  options->node_limit = absl::GetFlag(FLAGS_node_limit);
  options->time_limit = absl::GetFlag(FLAGS_time_limit);
  if (absl::GetFlag(FLAGS_capacity) != 0) {
    options->capacity_bytes = absl::GetFlag(FLAGS_capacity);
    options->goal = PlanOptions::Goal::kFitCapacity;
  }
  for (const PlanMethod method : footprint::AllPlanMethods()) {
    if (PlanMethodName(method) == absl::GetFlag(FLAGS_method)) {
      options->method = method;
      return true;
    }
  }
  return false;
}

void Print(const std::string& path, const std::vector<TensorRequest>& requests,
           const MemoryPlan& plan, double milliseconds) {
  const footprint::LowerBound& bound = plan.lower_bound;
  const double ratio = bound.bytes == 0
                           ? 1
                           : static_cast<double>(plan.height_bytes) /
                                 static_cast<double>(bound.bytes);
  std::cout << absl::StrFormat(
      "%s: %d tensors, height %d, lower bound %d, ratio %.4f%s, method %s, "
      "nodes %d, cpu %.2f ms\n  certificate: %d tensors are live at step "
      "%d%s\n",
      path, requests.size(), plan.height_bytes, bound.bytes, ratio,
      plan.IsProvedMinimal() ? " (minimal)" : "",
      std::string(PlanMethodName(plan.method)), plan.search_nodes, milliseconds,
      bound.tensors.size(), bound.step,
      bound.kind == footprint::LowerBound::Kind::kExhaustiveSearch
          ? "; the search ruled out every lower plan"
          : "");
}

// Returns an output path that would overwrite the input or the other output, or
// an empty text.
std::string OverwrittenPath(const std::string& input) {
  const std::string output = absl::GetFlag(FLAGS_output);
  const std::string picture = absl::GetFlag(FLAGS_picture);
  for (const std::string& path : {output, picture}) {
    if (!path.empty() && footprint::IsSameFile(path, input)) return path;
  }
  const bool is_twice = !output.empty() && !picture.empty() &&
                        footprint::IsSameFile(output, picture);
  return is_twice ? picture : "";
}

// Writes directly to a pipe or a device; writes a file as a whole or not at
// all.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  footprint::AtomicFileOptions options;
  options.special_files = footprint::SpecialFiles::kWriteAsTheyAre;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Append(text);
  return status.ok() ? file->Commit() : status;
}

int WriteResult(const std::string& path, const std::string& text) {
  const absl::Status status = WriteFile(path, text);
  return status.ok() ? kPlanned
                     : Complain(std::string(status.message()), kBadInput);
}

int WriteResults(const std::string& path,
                 const std::vector<TensorRequest>& requests,
                 const MemoryPlan& plan) {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (!output.empty()) {
    const absl::StatusOr<std::string> csv = PlanToCsv(requests, plan);
    if (!csv.ok()) {
      return Complain(std::string(csv.status().message()), kBadInput);
    }
    const int written = WriteResult(output, *csv);
    if (written != kPlanned) return written;
  }
  const std::string picture = absl::GetFlag(FLAGS_picture);
  if (picture.empty()) return kPlanned;
  return WriteResult(
      picture,
      DrawPlan(requests, plan, std::filesystem::path(path).stem().string()));
}

// Lists the files; a folder stands for its CSV files, in order of their names.
// Complains and returns false if a folder has none, or one that is not a
// regular file.
bool ListFiles(const std::vector<char*>& arguments,
               std::vector<std::string>* files) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::error_code error;
    const std::filesystem::path path = arguments[i];
    if (!std::filesystem::is_directory(path, error)) {
      files->push_back(arguments[i]);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() != ".csv") continue;
      found.push_back(entry.path());
      // A pipe in a folder may never have a writer, so the program must not
      // open it.
      if (entry.is_regular_file(error)) continue;
      Complain(absl::StrCat(found.back(), ": not a regular file"), kBadInput);
      return false;
    }
    if (error || found.empty()) {
      Complain(absl::StrCat("no .csv file in the folder ", arguments[i]),
               kBadInput);
      return false;
    }
    std::sort(found.begin(), found.end());
    files->insert(files->end(), found.begin(), found.end());
  }
  return true;
}

int PlanFile(const std::string& path, const PlanOptions& options) {
  std::error_code error;
  // A device may have no end, like /dev/zero.
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::character ||
      type == std::filesystem::file_type::block) {
    return Complain(absl::StrCat(path, ": not a file but a device"), kBadInput);
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return Complain(
        absl::StrCat(path,
                     ": cannot be read; check the path, and whether you "
                     "may read it"),
        kBadInput);
  }
  int64_t tensors_with_gaps = 0;
  const absl::StatusOr<std::vector<TensorRequest>> requests =
      footprint::ParseRequestsCsv(text, path, &tensors_with_gaps);
  if (!requests.ok()) {
    return Complain(std::string(requests.status().message()), kBadInput);
  }
  const double begin = ProcessorMilliseconds();
  const absl::StatusOr<MemoryPlan> plan =
      footprint::PlanMemory(*requests, options);
  if (!plan.ok()) {
    return Complain(
        absl::StrCat(path, ": ", plan.status().message()),
        absl::IsResourceExhausted(plan.status()) ? kDoesNotFit : kBadInput);
  }
  Print(path, *requests, *plan, ProcessorMilliseconds() - begin);
  if (tensors_with_gaps > 0) {
    std::cout << "  " << tensors_with_gaps
              << " tensors have gaps, in which they count as live: the plan is "
                 "valid, but one that uses the gaps may be lower\n";
  }
  return WriteResults(path, *requests, *plan);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(kUsage);
  const std::vector<char*> arguments =
      footprint::ParseProgramFlags(argc, argv, kBadInput);
  // Checks the command line before any work.
  PlanOptions options;
  const std::string negative = NegativeFlag();
  if (!negative.empty()) {
    return Complain(absl::StrCat(negative, " is below zero"), kBadInput);
  }
  if (!ReadFlags(&options)) {
    return Complain(absl::StrCat("unknown method \"",
                                 absl::GetFlag(FLAGS_method), "\"; see --help"),
                    kBadInput);
  }
  if (arguments.size() < 2) return Complain("no file; see --help", kBadInput);
  std::vector<std::string> files;
  if (!ListFiles(arguments, &files)) return kBadInput;
  if (files.size() > 1 && !(absl::GetFlag(FLAGS_output).empty() &&
                            absl::GetFlag(FLAGS_picture).empty())) {
    return Complain("--output and --picture take one input", kBadInput);
  }
  const std::string overwritten = OverwrittenPath(files.front());
  if (!overwritten.empty()) {
    return Complain(absl::StrCat(overwritten,
                                 " would overwrite the input or the other "
                                 "output: name another file"),
                    kBadInput);
  }
  // Plans every file, even if an earlier one fails.
  int worst = kPlanned;
  const double begin = ProcessorMilliseconds();
  for (const std::string& file : files) {
    worst = std::max(worst, PlanFile(file, options));
  }
  std::cout << absl::StrFormat("processor time of all files: %.2f ms\n",
                               ProcessorMilliseconds() - begin);
  if (!std::cout.flush()) {
    return Complain("standard output: cannot be written, results are lost",
                    kBadInput);
  }
  return worst;
}
