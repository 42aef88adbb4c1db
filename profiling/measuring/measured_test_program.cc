// A program that tests measure: it writes a profile made up from its flags, or
// misbehaves as they say.
//
//   measured_test_program --memory_profile_out=p --memory_samples_out=s
//   --do=crash

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"

extern char** environ;

namespace footprint {
namespace {

void AddMetric(MetricKind kind, Determinism determinism, int64_t value,
               BenchmarkMemory* benchmark) {
  Metric* metric = benchmark->add_metrics();
  metric->set_kind(kind);
  metric->set_determinism(determinism);
  metric->set_value(value);
}

void AddArgument(const std::string& name, const std::string& value,
                 BenchmarkMemory* benchmark) {
  Argument* argument = benchmark->add_arguments();
  argument->set_name(name);
  argument->set_value(value);
}

std::string ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) absl::StrAppend(&list, name, " ");
  return list;
}

std::string OpenFiles() {
  std::string files;
  for (int file = 0; file < 1024; ++file) {
    if (fcntl(file, F_GETFD) >= 0) absl::StrAppend(&files, file, " ");
  }
  return files;
}

std::string Limit(__rlimit_resource resource) {
  rlimit limit;
  getrlimit(resource, &limit);
  return absl::StrCat(limit.rlim_cur);
}

// Adds the conditions that the program can see: where and how it runs.
void DescribeCircumstances(const std::string& own_name,
                           BenchmarkMemory* benchmark) {
  AddArgument("argv[0]", own_name, benchmark);
  std::string variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    absl::StrAppend(&variables,
                    absl::StartsWith(text, "FOOTPRINT_PADDING=")
                        ? "FOOTPRINT_PADDING"
                        : text,
                    " ");
  }
  AddArgument("environment", variables, benchmark);
  AddArgument("files", OpenFiles(), benchmark);
  char folder[4096];
  AddArgument("folder's length",
              getcwd(folder, sizeof(folder)) == nullptr
                  ? "unknown"
                  : absl::StrCat(std::string(folder).size()),
              benchmark);
  AddArgument("folder", ListFolder("."), benchmark);
  AddArgument("stack", Limit(RLIMIT_STACK), benchmark);
  AddArgument("core", Limit(RLIMIT_CORE), benchmark);
  AddArgument("open files", Limit(RLIMIT_NOFILE), benchmark);
  const mode_t mask = umask(0);
  AddArgument("umask", absl::StrCat(mask), benchmark);
}

// Returns an address that depends on the address-space layout and on the
// environment.
int64_t StackAddress() {
  char here = 0;
  char* volatile address = &here;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
}

// Returns an address that depends only on the address-space layout.
int64_t MappedAddress() {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(
      mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
}

[[noreturn]] void SleepForever() {
  while (true) pause();
}

// Leaves a grandchild that is in another session, has another parent, and keeps
// standard error open.
void LeaveHangingGrandchild(const std::string& process_id_path) {
  if (fork() != 0) {
    while (access(process_id_path.c_str(), F_OK) != 0) usleep(1000);
    return;
  }
  setsid();
  if (fork() != 0) _exit(0);
  std::ofstream(process_id_path + ".new") << getpid();
  std::rename((process_id_path + ".new").c_str(), process_id_path.c_str());
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  SleepForever();
}

void WriteMegabytes() {
  const std::string line(99, 'x');
  for (int i = 0; i < 30000; ++i) {
    std::fprintf(stderr, "%s\n", line.c_str());
    std::fprintf(stdout, "%s\n", line.c_str());
  }
}

// Ends the process in the way that `what` names, or returns.
void Misbehave(const std::string& what) {
  if (what == "crash") {
    std::fprintf(stderr, "about to crash, process %d at %p\n", getpid(),
                 static_cast<void*>(&environ));
    // A sanitizer's handler would turn the signal into an exit.
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  } else if (what == "abort") {
    std::abort();
  } else if (what == "exit3") {
    std::fprintf(stderr, "cannot open \xff the model\n");
    std::exit(3);
  } else if (what == "kill") {
    std::raise(SIGKILL);
  } else if (what == "hang") {
    std::signal(SIGTERM, SIG_IGN);
    SleepForever();
  } else if (what == "no_profile") {
    std::exit(0);
  } else if (what == "noise_then_exit1") {
    WriteMegabytes();
    std::fprintf(stderr, "the last line\n");
    std::exit(1);
  }
}

struct Flags {
  std::string profile_path;
  std::string samples_path;
  std::string what;
  std::string path;  // of a data file, or for a process ID
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value =
        equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--memory_profile_out") flags.profile_path = value;
    if (name == "--memory_samples_out") flags.samples_path = value;
    if (name == "--do") flags.what = value;
    if (name == "--path") flags.path = value;
  }
  return flags;
}

MemoryProfile MakeProfile(const Flags& flags, const std::string& own_name) {
  MemoryProfile profile;
  profile.mutable_environment()->set_allocator("none");
  BenchmarkMemory* benchmark = profile.add_benchmarks();
  benchmark->set_name("BM_Test");
  AddMetric(PEAK_LIVE_USABLE_BYTES, EXACT, 114688, benchmark);
  AddMetric(PEAK_RESIDENT_BYTES, STATISTICAL, getpid(), benchmark);
  if (flags.what == "vary") {
    AddMetric(ALLOCATED_USABLE_BYTES, EXACT, StackAddress(), benchmark);
  } else if (flags.what == "vary_with_layout") {
    AddMetric(ALLOCATED_USABLE_BYTES, EXACT, MappedAddress(), benchmark);
  } else if (flags.what == "describe") {
    DescribeCircumstances(own_name, benchmark);
  } else if (flags.what == "read") {
    std::ifstream file(flags.path);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    AddArgument("content", content, benchmark);
  } else if (flags.what == "disagree") {
    // The padding differs from process to process.
    const std::string padding = std::getenv("FOOTPRINT_PADDING");
    AddArgument("padding", absl::StrCat(padding.size()), benchmark);
  } else if (flags.what == "own_failure") {
    profile.clear_benchmarks();
    profile.mutable_failure()->set_kind(ProducerFailure::EXITED);
    profile.mutable_failure()->set_detail("no such benchmark");
  }
  if (flags.what == "benchmark_fails" || flags.what == "one_process_fails") {
    *profile.add_benchmarks() = profile.benchmarks(0);
    profile.mutable_benchmarks(1)->set_name("BM_Other");
  }
  // The first process has no padding.
  const char* const padding = std::getenv("FOOTPRINT_PADDING");
  if (flags.what == "benchmark_fails" ||
      (flags.what == "one_process_fails" && *padding != '\0')) {
    profile.mutable_benchmarks()->RemoveLast();
    profile.mutable_failure()->set_kind(ProducerFailure::BENCHMARKS_FAILED);
    profile.mutable_failure()->set_detail("BM_Other: error: as asked");
  }
  return profile;
}

MemorySamples MakeSamples() {
  MemorySamples samples;
  SampledBenchmark* benchmark = samples.add_benchmarks();
  benchmark->set_name("BM_Test");
  SampledMetric* metric = benchmark->add_metrics();
  metric->set_kind(ALLOCATOR_RESIDENT_BYTES);
  metric->add_values(getpid());
  return samples;
}

int Run(int argc, char** argv) {
  const Flags flags = ParseFlags(argc, argv);
  Misbehave(flags.what);
  if (flags.what == "leave_grandchild") LeaveHangingGrandchild(flags.path);
  if (flags.what == "noise") WriteMegabytes();
  if (!WriteMemoryProfileFile(MakeProfile(flags, argv[0]), flags.profile_path)
           .ok()) {
    return 1;
  }
  if (flags.what == "truncate") {
    struct stat facts;
    stat(flags.profile_path.c_str(), &facts);
    if (truncate(flags.profile_path.c_str(), facts.st_size - 2) != 0) return 1;
  }
  if (flags.what == "no_samples") return 0;
  if (!WriteMemorySamplesFile(MakeSamples(), flags.samples_path).ok()) return 1;
  return flags.what == "benchmark_fails" ? 1 : 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) { return footprint::Run(argc, argv); }
