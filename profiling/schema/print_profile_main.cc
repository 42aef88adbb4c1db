// Prints memory profiles and samples: see kHelp.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/profile_text.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Prints memory profiles, and the samples in the same folder.

  bazel build //profiling/google_benchmark:sample_benchmark_profile
  bazel run //profiling:print_profile -- bazel-bin/profiling/google_benchmark/sample_benchmark_profile.profile.binpb

Flags
  --format=text|json   text for people, or one JSON object for each file with the
                       fields of profiling/schema/memory_profile.proto (default:
                       text)
  --help               print this text

Exit status: 0 every file was printed; 1 a file is missing, damaged or not a
profile; 2 the command line is wrong.
)";

constexpr int kDone = 0;
constexpr int kUnreadable = 1;
constexpr int kMistake = 2;

int Complain(absl::string_view message, int status) {
  std::fprintf(stderr, "print_profile: %s\n", std::string(message).c_str());
  return status;
}

// Returns a path relative to the folder of the user, since `bazel run` changes
// the folder.
std::string PathOfCaller(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return path.empty() || path[0] == '/' || folder == nullptr
             ? path
             : absl::StrCat(folder, "/", path);
}

absl::StatusOr<std::string> ReadAsText(const std::string& path, bool is_json) {
  const absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
  if (profile.ok()) {
    return is_json ? ProfileJson(*profile) : ProfileText(*profile);
  }
  const absl::StatusOr<MemorySamples> samples = ReadMemorySamplesFile(path);
  if (samples.ok()) {
    return is_json ? SamplesJson(*samples) : SamplesText(*samples);
  }
  return profile.status();
}

int Main(const std::vector<std::string>& arguments) {
  // Reads the arguments.
  bool is_json = false;
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return kDone;
    }
    if (argument == "--format=json" || argument == "--format=text") {
      is_json = argument == "--format=json";
    } else if (absl::StartsWith(argument, "--")) {
      return Complain(absl::StrCat("there is no flag ", argument,
                                   "; use --format=text or --format=json, or "
                                   "see --help"),
                      kMistake);
    } else {
      paths.push_back(argument);
    }
  }
  if (paths.empty()) {
    return Complain(
        "name a file, for example "
        "bazel-bin/PACKAGE/NAME.profile.binpb; see --help",
        kMistake);
  }
  // Prints each file.
  int status = kDone;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text =
        ReadAsText(PathOfCaller(path), is_json);
    if (!text.ok()) {
      status = Complain(text.status().message(), kUnreadable);
    } else if (std::fwrite(text->data(), 1, text->size(), stdout) !=
               text->size()) {
      return Complain("the standard output cannot be written", kUnreadable);
    }
  }
  return std::fflush(stdout) == 0
             ? status
             : Complain("the standard output cannot be written", kUnreadable);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
