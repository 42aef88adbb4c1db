#include "footprint/profiling/benchmark_processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <streambuf>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"
#include "footprint/profiling/memory_output_flags.h"
#include "footprint/profiling/memory_profile_file.h"

namespace footprint {
namespace {

// Keeps each text that is written to it, as one call of << writes it: a newline
// in a name is told from the one after a name.
class SeparateTexts : public std::streambuf {
 public:
  const std::vector<std::string>& texts() const { return texts_; }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    texts_.emplace_back(text, static_cast<size_t>(size));
    return size;
  }
  int overflow(int character) override {
    texts_.emplace_back(1, static_cast<char>(character));
    return character;
  }

 private:
  std::vector<std::string> texts_;
};

// Only lends its streams while Google Benchmark lists instances.
class ListingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return false; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// Nor may it open a file for rows, which the processes would begin anew.
void SwitchToListing() {
  std::string program = "program";
  std::string list = "--benchmark_list_tests=true";
  std::string no_file = "--benchmark_out=";
  char* arguments[] = {&program[0], &list[0], &no_file[0], nullptr};
  int count = 3;
  // The name is kept by address, so it goes in and out as it was.
  const char* const name =
      benchmark::BenchmarkReporter::Context::executable_name;
  benchmark::Initialize(&count, arguments);
  benchmark::BenchmarkReporter::Context::executable_name = name;
}

// A filter that matches this name and no other. Closing brackets and braces
// stand for themselves; POSIX has no escape for them. memo/exact_filter.cc must
// agree (its test compares).
std::string ExactFilter(const std::string& name) {
  std::string filter = "--benchmark_filter=^";
  for (char character : name) {
    if (std::strchr(".^$|()[{*+?\\", character) != nullptr) filter += '\\';
    filter += character;
  }
  return filter + "$";
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// How the process ended, as of waitpid. It ends with this one, whatever ends
// it.
absl::StatusOr<int> RunThisProgram(const std::vector<std::string>& arguments) {
  const std::vector<char*> pointers = Pointers(arguments);
  const pid_t process = fork();
  if (process < 0) {
    return absl::InternalError(absl::StrCat(
        "cannot start a process for a benchmark: ", std::strerror(errno),
        "; make room for one, or measure with --memory_one_process"));
  }
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execve("/proc/self/exe", pointers.data(), environ);
    _exit(127);
  }
  int wait_status = 0;
  while (waitpid(process, &wait_status, 0) < 0) {
    if (errno != EINTR) {
      return absl::InternalError(absl::StrCat(
          "cannot wait for a benchmark's process: ", std::strerror(errno)));
    }
  }
  return wait_status;
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(wait_status));
  }
  if (WEXITSTATUS(wait_status) != 0) {
    return absl::StrCat("exited with status ", WEXITSTATUS(wait_status));
  }
  return "did not run; see --benchmark_list_tests";
}

// The names that begin an entry of `text`, as MeasureGroup's callee wrote it.
bool IsSaidToHaveFailed(const std::string& name, const std::string& text) {
  return absl::StartsWith(text, name + ": ") ||
         absl::StrContains(text, "; " + name + ": ");
}

void AddRemarks(const MemoryProfile& measured, MemoryProfile* profile) {
  for (const Remark& remark : measured.remarks()) {
    const bool is_there =
        std::any_of(profile->remarks().begin(), profile->remarks().end(),
                    [&remark](const Remark& other) {
                      return other.about() == remark.about() &&
                             other.text() == remark.text();
                    });
    if (!is_there) *profile->add_remarks() = remark;
  }
}

}  // namespace

std::vector<std::string> ListBenchmarks(std::string* complaints) {
  SeparateTexts texts;
  std::ostream listing(&texts);
  std::ostringstream errors;
  ListingReporter reporter;
  reporter.SetOutputStream(&listing);
  reporter.SetErrorStream(&errors);
  SwitchToListing();
  benchmark::RunSpecifiedBenchmarks(&reporter);
  *complaints = errors.str();
  std::vector<std::string> names;
  for (size_t i = 0; i < texts.texts().size(); i += 2) {
    if (i + 1 == texts.texts().size() || texts.texts()[i + 1] != "\n") {
      *complaints =
          "This Google Benchmark lists names in a way that is not known; "
          "measure with --memory_one_process.\n";
      return {};
    }
    names.push_back(texts.texts()[i]);
  }
  return names;
}

std::vector<BenchmarkGroup> GroupBenchmarks(
    const std::vector<std::string>& names, const ProcessSharing& sharing) {
  std::vector<BenchmarkGroup> groups;
  std::map<std::pair<std::string, std::string>, size_t> indices;
  for (const std::string& name : names) {
    const std::string argument = sharing == nullptr ? "" : sharing(name);
    const auto [entry, is_new] = indices.try_emplace(
        {argument, argument.empty() ? name : ""}, groups.size());
    if (is_new) groups.push_back({{}, argument});
    groups[entry->second].names.push_back(name);
  }
  return groups;
}

std::vector<std::string> CommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> arguments = absl::StrSplit(text, '\0');
  // Each argument ends with a zero.
  if (!arguments.empty()) arguments.pop_back();
  return arguments;
}

std::vector<std::string> CommandLineOfGroup(
    const std::vector<std::string>& command_line, const BenchmarkGroup& group,
    const std::string& profile_path) {
  std::vector<std::string> copies = command_line;
  std::vector<char*> kept = Pointers(copies);
  int count = static_cast<int>(copies.size());
  // The files of all benchmarks together are not this process's to write.
  TakeMemoryOutputFlags(&count, kept.data()).IgnoreError();
  kept.resize(static_cast<size_t>(count));
  const auto end = std::find_if(kept.begin(), kept.end(), [](const char* text) {
    return std::strcmp(text, "--") == 0;
  });
  std::vector<std::string> arguments(kept.begin(), end);
  if (group.argument.empty()) {
    // Not overruled but gone: its length may reach the heap.
    arguments.erase(std::remove_if(arguments.begin(), arguments.end(),
                                   [](const std::string& argument) {
                                     return absl::StartsWith(
                                         argument, "--benchmark_filter=");
                                   }),
                    arguments.end());
    arguments.push_back(ExactFilter(group.names[0]));
  } else {
    arguments.push_back(group.argument);
  }
  arguments.push_back(absl::StrCat("--memory_profile_out=", profile_path));
  arguments.push_back("--memory_one_process");
  arguments.insert(arguments.end(), end, kept.end());
  return arguments;
}

absl::StatusOr<bool> MeasureGroup(const std::vector<std::string>& command_line,
                                  const BenchmarkGroup& group,
                                  const std::string& profile_path,
                                  MemoryProfile* profile,
                                  std::vector<std::string>* failures) {
  unlink(profile_path.c_str());
  absl::StatusOr<int> wait_status =
      RunThisProgram(CommandLineOfGroup(command_line, group, profile_path));
  if (!wait_status.ok()) return wait_status.status();
  if (WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 2) return false;
  absl::StatusOr<MemoryProfile> measured = ReadMemoryProfileFile(profile_path);
  unlink(profile_path.c_str());
  std::set<std::string> missing(group.names.begin(), group.names.end());
  std::string why = DescribeEnd(*wait_status);
  if (measured.ok()) {
    const std::string& told = measured->failure().detail();
    if (!told.empty()) failures->push_back(told);
    const bool is_explained = *wait_status == 0 || !told.empty();
    for (BenchmarkMemory& benchmark : *measured->mutable_benchmarks()) {
      if (!is_explained) break;
      missing.erase(benchmark.name());
      *profile->add_benchmarks() = std::move(benchmark);
    }
    for (const std::string& name : group.names) {
      if (IsSaidToHaveFailed(name, told)) missing.erase(name);
    }
    AddRemarks(*measured, profile);
  } else if (*wait_status == 0) {
    why = std::string(measured.status().message());
  }
  for (const std::string& name : group.names) {
    if (missing.erase(name) > 0) {
      failures->push_back(absl::StrCat(name, ": ", why));
    }
  }
  return true;
}

}  // namespace footprint
