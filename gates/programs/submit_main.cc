// Submits a bundle to a validation server, waits, and prints the verdict like
// //gates:check.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/machine/stop_signals.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/server_folders.h"
#include "footprint/gates/server/submit_client.h"

namespace footprint {
namespace {

constexpr char kProgram[] = "submit";
constexpr char kUsualServer[] = "http://127.0.0.1:7878";
// The server reads no longer header.
constexpr size_t kMostTokenBytes = 8192;
constexpr char kHelp[] =
    R"(Submits a bundle to a validation server, waits, and prints its verdict.

  bazel run //gates:submit -- model_folder       makes the bundle, and sends it
  bazel run //gates:submit -- model.bundle
  bazel run //gates:submit -- model_folder --make=model.bundle
                                                 makes it, and sends nothing
  bazel run //gates:submit -- image.tar          sends a container image

A folder holds a manifest, bundle.textproto, and the files that it names. The
lines after budget_bytes are optional:

  schema_version: 1
  kind: PYTHON_SCRIPT        # or NATIVE_PROGRAM, LOWMEM_CHECKPOINT
  entry: "fit.py"            # the program to run, in the folder
  budget_bytes: 209715200    # of the whole process; or device: "edge_box"
  arguments: "--rows=1000"   # one line for each argument
  data: "table.csv"          # a file or folder that must exist; one line each
  time_limit_seconds: 30
  label: "//team/model:fit"  # its name in the history

A container image is a folder or archive of the OCI image layout, such as umoci,
`skopeo copy ... oci-archive:FILE` and `docker save` (from version 25) write it.
Its label org.footprint.bundle has such a manifest, in which kind, entry and
arguments may be missing: Entrypoint, Cmd, Env and WorkingDir of the image count
then. IMAGE@sha256:HEX chooses one of several manifests.

Flags
  --server=URL           the server (default: $FOOTPRINT_SERVER, or
                         http://127.0.0.1:7878)
  --token_file=FILE      the file of the token (default: the token in
                         $FOOTPRINT_TOKEN, or the file that serve writes,
                         ~/.config/footprint/token); it is read again if the
                         server refuses the token
  --token_command=TEXT   a command of the shell that prints the token; it runs
                         again if the server refuses the token, since tokens of
                         CI jobs expire within minutes
  --deployment=LABEL     the name in the history, until the manifest's is known
  --again                run the bundle again if its verdict is INCONCLUSIVE,
                         PRODUCER_FAILED or ENVIRONMENT_MISMATCH
  --wait=SECONDS         how long to wait for the verdict (default: 1800)
  --all                  show every rule, also those that hold with room to spare
  --format=NAME          the format of the verdict (default: text); `check
                         --help` lists all formats
  --output=FILE          the file to write (default: standard output)
  --make=FILE            write the bundle of a folder, or the archive of an
                         image, to this file, and send nothing
  --help                 print this text

Exit status: the decision, as for check: 0 ACCEPT, 1 REJECT, 2 BAD_CONFIGURATION
or a mistake, which the message names, 3 PRODUCER_FAILED, 4 INCONCLUSIVE or no
verdict in time, 5 ENVIRONMENT_MISMATCH. If the server's mode is warn or audit, the
exit status is 0 for every decision.
)";

void PrintStep(absl::string_view step) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(step).c_str());
}

// Shows the progress of each work that takes more than an instant.
class Progress {
 public:
  void Note(const char* work, int64_t done_bytes, int64_t all_bytes) {
    constexpr int64_t kLeastBytes = int64_t{64} << 20;
    if (all_bytes < kLeastBytes) return;
    if (!bar_.has_value() || std::strcmp(work, work_) != 0) {
      bar_.emplace(stderr, work);
      work_ = work;
    }
    bar_->Update(done_bytes, all_bytes);
  }

 private:
  absl::optional<ProgressBar> bar_;
  const char* work_ = "";
};

// Removes the file when it is destroyed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

 private:
  const std::string path_;
};

// Returns what a command of the shell prints.
absl::StatusOr<std::string> RunTokenCommand(const std::string& command) {
  FILE* const output = popen(command.c_str(), "re");
  if (output == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("--token_command: ", std::strerror(errno)));
  }
  std::string text(kMostTokenBytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), output));
  const int status = pclose(output);
  const std::string token(absl::StripAsciiWhitespace(text));
  if (status != 0 || token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--token_command: the command ",
        status != 0 ? "failed" : "printed nothing", ": ", command));
  }
  return token;
}

absl::StatusOr<std::string> ReadToken(const CommandFlags& flags) {
  if (flags.Has("token_command")) {
    if (flags.Has("token_file")) {
      return absl::InvalidArgumentError(
          "give either --token_file or --token_command");
    }
    return RunTokenCommand(flags.Value("token_command", ""));
  }
  const std::string given = EnvironmentValue("FOOTPRINT_TOKEN");
  if (!given.empty() && !flags.Has("token_file")) return given;
  const absl::StatusOr<std::string> path =
      flags.Has("token_file") ? PathOfCaller(flags.Value("token_file", ""))
                              : ClientTokenPath();
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string> text =
      ReadWholeFile(*path, kMostTokenBytes);
  if (!text.ok()) {
    return absl::NotFoundError(absl::StrCat(
        text.status().message(),
        "; give the server's token by FOOTPRINT_TOKEN, --token_file or "
        "--token_command; its operator makes one with `serve token add`"));
  }
  return std::string(absl::StripAsciiWhitespace(*text));
}

// The result refers to `flags`.
absl::StatusOr<SubmitOptions> ReadOptions(const CommandFlags& flags) {
  SubmitOptions options;
  const std::string named = EnvironmentValue("FOOTPRINT_SERVER");
  options.server = flags.Value("server", named.empty() ? kUsualServer : named);
  absl::StatusOr<std::string> token = ReadToken(flags);
  if (!token.ok()) return token.status();
  options.token = *std::move(token);
  options.renew_token = [&flags] { return ReadToken(flags); };
  options.deployment = flags.Value("deployment", "");
  if (!absl::SimpleAtoi(flags.Value("wait", "1800"), &options.wait_seconds) ||
      options.wait_seconds < 0) {
    return absl::InvalidArgumentError("--wait must be a number of seconds");
  }
  options.format = flags.Value("format", options.format);
  options.has_every_rule = flags.Has("all");
  options.is_again = flags.Has("again");
  if (!flags.Has("output")) {
    const ReportOptions terminal = OptionsOfTerminal();
    options.has_colour = terminal.has_colour;
    options.width = static_cast<int64_t>(terminal.width);
  }
  options.report_step = PrintStep;
  options.report_bytes = [progress = std::make_shared<Progress>()](
                             const char* work, int64_t done_bytes,
                             int64_t all_bytes) {
    progress->Note(work, done_bytes, all_bytes);
  };
  return options;
}

absl::StatusOr<std::string> TemporaryPath() {
  const std::string folder = EnvironmentValue("TMPDIR");
  std::string path = absl::StrCat(folder.empty() ? "/tmp" : folder,
                                  "/footprint-submit-XXXXXX");
  const int file = mkstemp(path.data());
  if (file < 0) {
    return absl::UnavailableError(
        absl::StrCat(path,
                     ": cannot be made; set TMPDIR to a folder that can "
                     "be written"));
  }
  close(file);
  return path;
}

int Submit(const CommandFlags& flags, const SubmitOptions& options,
           const std::string& bundle_path) {
  const absl::StatusOr<SubmittedVerdict> verdict =
      SubmitBundle(bundle_path, options);
  if (absl::IsDeadlineExceeded(verdict.status())) {
    Complain(kProgram, verdict.status().message());
    return INCONCLUSIVE;
  }
  if (!verdict.ok()) return Complain(kProgram, verdict.status().message());
  if (verdict->mode != "enforce") {
    std::fprintf(stderr, "%s: the server's mode is %s: nothing is rejected\n",
                 kProgram, verdict->mode.c_str());
  }
  if (verdict->is_from_store) {
    std::fprintf(stderr, "%s: the verdict was there already%s\n", kProgram,
                 verdict->can_run_again ? "; --again runs it once more" : "");
  }
  return FinishProgram(kProgram, verdict->report, flags.Value("output", ""),
                       verdict->exit_status);
}

// The server that gets an archive of --make later is not known.
void WarnOfSize(int64_t all_bytes) {
  const int64_t usual_bytes = BundleLimits().unpacked_bytes;
  if (all_bytes <= usual_bytes) return;
  PrintStep(absl::StrCat("the files have ", FormatBytes(all_bytes),
                         ", and a server takes ", FormatBytes(usual_bytes),
                         " unless its --most_bundle is larger"));
}

// Packs a folder or an image until a signal stops it. The archive is written in
// one step, so an earlier file at the path stays if it is stopped.
absl::Status Pack(const std::string& name, const std::string& path,
                  const BundleLimits& limits, const StopSignals& signals) {
  Progress progress;
  PackingOptions options;
  options.limits = limits;
  options.limits.is_stopped = [&signals] { return signals.is_stopped(); };
  bool is_first = true;
  options.report_bytes = [&](int64_t packed_bytes, int64_t all_bytes) {
    if (is_first) WarnOfSize(all_bytes);
    is_first = false;
    progress.Note("packing", packed_bytes, all_bytes);
  };
  return MakeArchiveToSend(name, path, FolderOf(path), options);
}

int MakeOnly(const CommandFlags& flags, const std::string& name) {
  const std::string path = PathOfCaller(flags.Value("make", ""));
  absl::Status made;
  {
    const StopSignals signals;
    made = Pack(name, path, LimitsOfOwnImage(), signals);
  }
  StopSignals::EndIfStopped();
  return made.ok() ? ACCEPT : Complain(kProgram, made.message());
}

// Packs a folder or an image into a file that has no name once it is complete,
// so that nothing stays however this process ends.
absl::StatusOr<FileDescriptor> PackForServer(const std::string& name,
                                             int64_t most_bytes) {
  // The file is removed before a signal ends this process again.
  const StopSignals signals;
  const absl::StatusOr<std::string> path = TemporaryPath();
  if (!path.ok()) return path.status();
  const TemporaryFile removed(*path);
  const absl::Status made =
      Pack(name, *path, LimitsOfArchive(most_bytes), signals);
  if (!made.ok()) return made;
  return OpenRegularFile(*path);
}

int PackAndSubmit(const CommandFlags& flags, SubmitOptions options,
                  const std::string& name) {
  const absl::StatusOr<int64_t> most_bytes = AskMostBundleBytes(options);
  if (!most_bytes.ok())
    return Complain(kProgram, most_bytes.status().message());
  options.most_bundle_bytes = *most_bytes;
  const absl::StatusOr<FileDescriptor> archive =
      PackForServer(name, *most_bytes);
  StopSignals::EndIfStopped();
  if (!archive.ok()) return Complain(kProgram, archive.status().message());
  return Submit(flags, options, absl::StrCat("/proc/self/fd/", archive->get()));
}

// Returns whether the path is a folder, or an image in any form.
bool HasToBePacked(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return true;
  // Only a small image is read without a word.
  constexpr uintmax_t kLeastBytes = uintmax_t{256} << 20;
  const uintmax_t bytes = std::filesystem::file_size(path, ignored);
  if (!ignored && bytes >= kLeastBytes) {
    PrintStep("looking for an image in the file");
  }
  return IsImagePath(path, LimitsOfOwnImage());
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      CommandFlags::Parse(arguments,
                          {"server", "token_file", "token_command",
                           "deployment", "wait", "format", "output", "make"},
                          {"again", "all", "help"}, /*most_words=*/1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", ACCEPT);
  if (flags->words().empty()) {
    return Complain(kProgram,
                    "name a bundle, or a folder to make one of; see "
                    "--help");
  }
  const std::string path = PathOfCaller(flags->words()[0]);
  const bool has_to_be_packed = HasToBePacked(path);
  if (has_to_be_packed && flags->Has("make")) return MakeOnly(*flags, path);
  const absl::StatusOr<SubmitOptions> options = ReadOptions(*flags);
  if (!options.ok()) return Complain(kProgram, options.status().message());
  return has_to_be_packed ? PackAndSubmit(*flags, *options, path)
                          : Submit(*flags, *options, path);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
