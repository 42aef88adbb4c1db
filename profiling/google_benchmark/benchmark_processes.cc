#include "footprint/profiling/google_benchmark/benchmark_processes.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
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
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"
#include "footprint/base/text/exec_strings.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/recording/memory_output_flags.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

// Keeps each text that one call of << writes, so that a newline in a name
// differs from the one after a name.
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

// Only provides its streams while Google Benchmark lists instances.
class ListingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return false; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// Makes Google Benchmark list instances. It must not open a file for rows,
// which the processes would overwrite.
void SwitchToListing() {
  std::string program = "program";
  std::string list = "--benchmark_list_tests=true";
  std::string no_file = "--benchmark_out=";
  char* arguments[] = {&program[0], &list[0], &no_file[0], nullptr};
  int count = 3;
  // Google Benchmark keeps the name's address, so it is restored afterwards.
  const char* const name =
      benchmark::BenchmarkReporter::Context::executable_name;
  benchmark::Initialize(&count, arguments);
  benchmark::BenchmarkReporter::Context::executable_name = name;
}

// Returns a flag whose filter matches only this name.
std::string ExactFilter(const std::string& name) {
  return absl::StrCat("--benchmark_filter=^", EscapeForRegularExpression(name),
                      "$");
}

// How this program was started, before main changes anything.
struct Start {
  char folder[PATH_MAX];
  bool has_input_file;  // standard input is a regular file
  off_t input_offset;
};
Start start;

__attribute__((constructor(101))) void RememberStart() {
  if (getcwd(start.folder, sizeof(start.folder)) == nullptr) {
    start.folder[0] = '\0';
  }
  struct stat facts = {};
  start.has_input_file =
      fstat(STDIN_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
  start.input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

// Restores folder and input between fork and execve, so that main finds the
// same as in the first process.
void ReturnToStart() {
  if (start.folder[0] != '\0' && chdir(start.folder) != 0) {
    dprintf(STDERR_FILENO, "cannot return to the folder %s: %s\n", start.folder,
            std::strerror(errno));
    _exit(127);
  }
  if (start.has_input_file) {
    lseek(STDIN_FILENO, start.input_offset, SEEK_SET);
  } else if (InputIsStream()) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(127);
  }
}

// Returns how the process ended, as waitpid reports it. If this process ends
// for any reason, that one ends too.
absl::StatusOr<int> RunThisProgram(const std::vector<std::string>& arguments) {
  const std::vector<char*> pointers = ExecStrings(arguments);
  const pid_t process = fork();
  if (process < 0) {
    return absl::InternalError(absl::StrCat(
        "cannot start a process for a benchmark: ", std::strerror(errno),
        "; make room for one, or measure with --memory_one_process"));
  }
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ReturnToStart();
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

// Describes the end of a process that left `names` without a measurement.
std::string DescribeEnd(int wait_status, bool has_begun) {
  if (WIFSIGNALED(wait_status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(wait_status));
  }
  if (WEXITSTATUS(wait_status) != 0) {
    return absl::StrCat("exited with status ", WEXITSTATUS(wait_status));
  }
  return has_begun ? "exited with status 0 before it was measured"
                   : "did not run; see --benchmark_list_tests";
}

// The content of a process's file from the start of its benchmarks until the
// profile replaces it.
constexpr char kBegun[] = "begun\n";

bool MakeEmpty(const std::string& path) {
  return std::ofstream(path, std::ios::binary | std::ios::trunc).good();
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the length of the character that `text` begins with, or 0 if it is
// not UTF-8.
size_t CharacterSize(absl::string_view text) {
  const auto byte = [text](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const size_t size = byte(0) < 0x80   ? 1
                      : byte(0) < 0xC2 ? 0
                      : byte(0) < 0xE0 ? 2
                      : byte(0) < 0xF0 ? 3
                      : byte(0) < 0xF5 ? 4
                                       : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // These are overlong forms, surrogates and values beyond Unicode.
  const bool is_wrong = (byte(0) == 0xE0 && byte(1) < 0xA0) ||
                        (byte(0) == 0xED && byte(1) > 0x9F) ||
                        (byte(0) == 0xF0 && byte(1) < 0x90) ||
                        (byte(0) == 0xF4 && byte(1) > 0x8F);
  return is_wrong ? 0 : size;
}

// Returns whether the name begins an entry of `text`, as the process of
// MeasureGroup writes it.
bool IsSaidToHaveFailed(const std::string& name, const std::string& text) {
  return absl::StartsWith(text, name + ": ") ||
         absl::StrContains(text, "; " + name + ": ");
}

void AddNotes(const MemoryProfile& measured, MemoryProfile* profile) {
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

std::string AsUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) {
      valid += "\\x" + absl::BytesToHexString(text.substr(0, 1));
    } else {
      valid.append(text.data(), size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

bool InputIsStream() {
  struct stat facts = {};
  return fstat(STDIN_FILENO, &facts) == 0 &&
         (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
}

void SayBegun(const std::string& profile_path) {
  const int file = open(profile_path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (file < 0) return;
  // If the write fails, only a message is less clear.
  if (write(file, kBegun, std::strlen(kBegun)) < 0) errno = 0;
  close(file);
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
  // Each argument ends with a null.
  if (!arguments.empty()) arguments.pop_back();
  return arguments;
}

std::vector<std::string> CommandLineOfGroup(
    const std::vector<std::string>& command_line, const BenchmarkGroup& group,
    const std::string& profile_path) {
  std::vector<std::string> copies = command_line;
  std::vector<char*> kept = ExecStrings(copies);
  int count = static_cast<int>(copies.size());
  // This process must not write the files of all benchmarks.
  TakeMemoryOutputFlags(&count, kept.data()).IgnoreError();
  kept.resize(static_cast<size_t>(count));
  const auto end = std::find_if(kept.begin(), kept.end(), [](const char* text) {
    return std::strcmp(text, "--") == 0;
  });
  std::vector<std::string> arguments(kept.begin(), end);
  if (group.argument.empty()) {
    // The filter is removed, not only overridden, because its length may reach
    // the heap.
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
  arguments.push_back("--memory_one_process=part");
  arguments.insert(arguments.end(), end, kept.end());
  return arguments;
}

absl::StatusOr<bool> MeasureGroup(const std::vector<std::string>& command_line,
                                  const BenchmarkGroup& group,
                                  const std::string& profile_path,
                                  MemoryProfile* profile,
                                  std::vector<std::string>* failures) {
  if (!MakeEmpty(profile_path)) {
    return absl::InternalError(absl::StrCat(
        profile_path, ": cannot be written: ", std::strerror(errno),
        "; make room there"));
  }
  absl::StatusOr<int> wait_status =
      RunThisProgram(CommandLineOfGroup(command_line, group, profile_path));
  if (!wait_status.ok()) return wait_status.status();
  const std::string written = ReadAll(profile_path);
  if (WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 2 &&
      written.empty()) {
    return false;
  }
  absl::StatusOr<MemoryProfile> measured = ReadMemoryProfileFile(profile_path);
  std::set<std::string> missing(group.names.begin(), group.names.end());
  std::string why = DescribeEnd(*wait_status, written == kBegun);
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
      if (IsSaidToHaveFailed(AsUtf8(name), told)) missing.erase(name);
    }
    AddNotes(*measured, profile);
  } else if (*wait_status == 0 && !written.empty() && written != kBegun) {
    why = std::string(measured.status().message());
  }
  for (const std::string& name : group.names) {
    if (missing.erase(name) == 0) continue;
    failures->push_back(absl::StrCat(AsUtf8(name), ": ", why));
    // The process itself has already printed its own failures.
    dprintf(STDERR_FILENO, "%s\n", failures->back().c_str());
  }
  return true;
}

}  // namespace footprint
