#include "footprint/gates/engine/engine_flags.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/engine/engine_command.h"
#include "footprint/gates/server/hmac_sha256.h"

namespace footprint {
namespace {

constexpr int64_t kMostWaitSeconds = 7 * 86400;
constexpr int kMostAttempts = 100;
constexpr size_t kNameDigits = 16;
constexpr char kDigits[] = "0123456789abcdef";

bool Has(const GivenFlags& flags, const std::string& name) {
  return flags.count(name) > 0;
}

std::string Value(const GivenFlags& flags, const std::string& name,
                  const std::string& otherwise) {
  const auto found = flags.find(name);
  return found == flags.end() ? otherwise : found->second;
}

std::string PathBelow(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

absl::Status CheckEngineFlags(const GivenFlags& flags) {
  for (const std::string& name : EngineFlags()) {
    if (Has(flags, "engine") || !Has(flags, name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, " has no effect without --engine"));
  }
  if (!Has(flags, "engine")) return absl::OkStatus();
  if (!Has(flags, "engine_key")) {
    return absl::InvalidArgumentError(
        "--engine needs --engine_key: the file of the key that signs results, "
        "which `try --key` has on the engine's hosts");
  }
  if (Has(flags, "lowmem")) {
    return absl::InvalidArgumentError(
        "--lowmem has no effect with --engine; write `try ... "
        "--lowmem=PROGRAM` into the engine's command");
  }
  return absl::OkStatus();
}

// Returns the name of this store among those that share an engine's folder.
// It is made at random: another machine may have a store of the same path, and
// whoever else can write to that folder must not know the name before.
absl::StatusOr<std::string> FindStoreName(const std::string& store_folder) {
  const std::string path = absl::StrCat(store_folder, "/engine_name");
  const absl::StatusOr<std::string> kept = ReadWholeFile(path);
  if (!kept.ok() && !absl::IsNotFound(kept.status())) return kept.status();
  if (kept.ok()) {
    const absl::string_view name = absl::StripTrailingAsciiWhitespace(*kept);
    if (name.size() == kNameDigits &&
        name.find_first_not_of(kDigits) == absl::string_view::npos) {
      return std::string(name);
    }
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not ", kNameDigits,
                     " hexadecimal digits; remove the file"));
  }
  std::random_device random;
  const std::string name = absl::StrFormat("%08x%08x", random(), random());
  const absl::Status status = ReplaceFile(path, name + "\n", ToDisk::kFlush);
  if (!status.ok()) return status;
  return name;
}

// Fails if the folder is a link or another user's, since a server removes what
// an earlier one left there.
absl::Status CheckOwnFolder(const std::string& folder) {
  struct stat facts;
  if (lstat(folder.c_str(), &facts) != 0) {
    return FileError(errno, folder, "cannot be read");
  }
  if (S_ISDIR(facts.st_mode) && facts.st_uid == geteuid()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(folder,
                   ": is not a folder of this user; remove it, and "
                   "name an --engine_folder to which nobody else can write"));
}

// Makes a folder for this store below the engine's, since another server may
// have the same one, and returns its path.
absl::StatusOr<std::string> MakeEngineFolder(const std::string& given,
                                             const std::string& store_folder) {
  std::error_code error;
  const std::string parent = std::filesystem::absolute(given, error).string();
  if (given.empty() || error) {
    return absl::InvalidArgumentError("--engine_folder= names no folder");
  }
  const absl::StatusOr<std::string> name = FindStoreName(store_folder);
  if (!name.ok()) return name.status();
  const std::string folder = absl::StrCat(parent, "/trials-", *name);
  std::filesystem::create_directories(folder, error);
  if (!error) {
    const absl::Status status = CheckOwnFolder(folder);
    if (!status.ok()) return status;
    // The bundles are for this user alone.
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all,
                                 error);
  }
  if (error) return FileError(error.value(), folder, "cannot be made");
  return folder;
}

absl::StatusOr<std::string> ReadEnvironment(const GivenFlags& flags,
                                            const std::string& caller_folder,
                                            const HostDescription& host) {
  if (Has(flags, "engine_host")) {
    const std::string path =
        PathBelow(caller_folder, Value(flags, "engine_host", ""));
    const absl::StatusOr<std::string> text = ReadWholeFile(path);
    if (!text.ok()) return text.status();
    if (!absl::StrContains(*text, "\npresent: ")) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": is not what `try --host` prints on a host of the engine"));
    }
    return absl::StrCat(absl::StripTrailingAsciiWhitespace(*text), "\n");
  }
  if (host.missing.empty()) return HostText(host);
  return absl::FailedPreconditionError(
      "this host cannot run trials, so the engine's hosts are of another kind; "
      "run `try --host > FILE` on one of them, and give --engine_host=FILE");
}

}  // namespace

const std::vector<std::string>& EngineFlags() {
  static const auto* const flags = new std::vector<std::string>(
      {"engine", "engine_key", "engine_folder", "engine_host", "engine_wait",
       "engine_attempts"});
  return *flags;
}

absl::StatusOr<absl::optional<EngineOptions>> ReadEngineFlags(
    const GivenFlags& flags, const std::string& caller_folder,
    const std::string& store_folder, const HostDescription& host) {
  const absl::Status status = CheckEngineFlags(flags);
  if (!status.ok()) return status;
  if (!Has(flags, "engine")) return absl::optional<EngineOptions>();
  EngineOptions options;
  absl::StatusOr<EngineCommand> command =
      EngineCommand::Parse(Value(flags, "engine", ""), caller_folder);
  if (!command.ok()) return command.status();
  options.command = *std::move(command);
  int64_t wait_seconds = 0;
  if (!absl::SimpleAtoi(Value(flags, "engine_wait", "600"), &wait_seconds) ||
      wait_seconds < 0 || wait_seconds > kMostWaitSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("--engine_wait must be a number of seconds from 0 to ",
                     kMostWaitSeconds));
  }
  options.most_wait = absl::Seconds(wait_seconds);
  if (!absl::SimpleAtoi(Value(flags, "engine_attempts", "3"),
                        &options.most_attempts) ||
      options.most_attempts < 1 || options.most_attempts > kMostAttempts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--engine_attempts must be a number from 1 to ", kMostAttempts));
  }
  absl::StatusOr<std::string> environment =
      ReadEnvironment(flags, caller_folder, host);
  if (!environment.ok()) return environment.status();
  options.environment = *std::move(environment);
  absl::StatusOr<std::string> key =
      ReadSigningKey(PathBelow(caller_folder, Value(flags, "engine_key", "")));
  if (!key.ok()) return key.status();
  options.key = *std::move(key);
  const std::string given = Value(flags, "engine_folder", store_folder);
  absl::StatusOr<std::string> folder = MakeEngineFolder(
      given.empty() ? given : PathBelow(caller_folder, given), store_folder);
  if (!folder.ok()) return folder.status();
  options.folder = *std::move(folder);
  return absl::optional<EngineOptions>(std::move(options));
}

}  // namespace footprint
