#include "footprint/gates/server/access_tokens.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/server/file_version.h"
#include "footprint/gates/server/json_web_token.h"
#include "footprint/gates/server/label_pattern.h"

namespace footprint {
namespace {

constexpr size_t kTokenBytes = 32;
// The prefix makes a token recognisable wherever it turns up.
constexpr char kTokenPrefix[] = "fpt_";

// Compares in constant time, whether the texts are equal or not.
bool IsSame(absl::string_view one, absl::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^
                  static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

// Parses the last two fields of a line. The limits may only be empty if there
// are labels.
absl::Status ParseOptionalFields(const std::vector<absl::string_view>& fields,
                                 AccessGrant* grant) {
  const bool has_labels = fields.size() == 6;
  if (fields.size() == 5 || (has_labels && !fields[4].empty())) {
    const absl::StatusOr<SubmitterLimits> limits = ParseLimits(fields[4]);
    if (!limits.ok()) return limits.status();
    grant->limits = *limits;
  }
  if (has_labels) grant->owned_labels = absl::StrSplit(fields[5], ',');
  return CheckGrant(*grant);
}

absl::StatusOr<KeptToken> ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
  if (fields.size() < 4 || fields.size() > 6) {
    return absl::InvalidArgumentError(
        "want NAME<TAB>SHA-256<TAB>SCOPES<TAB>EXPIRY, for a token with limits "
        "<TAB>LIMITS, and for one with labels <TAB>LABELS");
  }
  KeptToken token;
  token.grant.name = std::string(fields[0]);
  token.sha256 = std::string(fields[1]);
  const absl::StatusOr<unsigned> scopes = ParseScopes(fields[2]);
  if (!scopes.ok()) return scopes.status();
  token.grant.scopes = *scopes;
  if (!IsSha256Hex(token.sha256)) {
    return absl::InvalidArgumentError("the second field is no SHA-256");
  }
  if (!absl::SimpleAtoi(fields[3], &token.grant.expiry_unix_seconds) ||
      token.grant.expiry_unix_seconds < 0) {
    return absl::InvalidArgumentError("the expiry is not a number of seconds");
  }
  const absl::Status optional = ParseOptionalFields(fields, &token.grant);
  if (!optional.ok()) return optional;
  return token;
}

absl::StatusOr<std::string> NewToken() {
  std::string bytes(kTokenBytes, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return FileError(errno, "getrandom", "gave no random bytes");
  }
  return absl::StrCat(kTokenPrefix, absl::BytesToHexString(bytes));
}

absl::Status NoSuchToken(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("there is no token '",
                                          EscapeForTerminal(name),
                                          "'; `serve token list` shows all"));
}

// A token file. Its text also has the lines that people wrote, and ends with a
// newline unless it is empty.
struct TokenFile {
  std::string text;
  std::vector<KeptToken> tokens;
};

absl::StatusOr<TokenFile> ReadFile(const std::string& path) {
  TokenFile file;
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (absl::IsNotFound(text.status())) return file;
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<KeptToken>> tokens = ParseTokenFile(*text);
  if (!tokens.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", tokens.status().message(),
        "; correct the line, or remove the file and make new tokens"));
  }
  file.text = *std::move(text);
  if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
  file.tokens = *std::move(tokens);
  return file;
}

// Returns `text` with `replacement`, a whole line or nothing, in place of each
// line that begins with `begin`.
std::string ReplaceLines(absl::string_view text, absl::string_view begin,
                         absl::string_view replacement) {
  std::string replaced;
  while (!text.empty()) {
    const absl::string_view line = text.substr(0, text.find('\n') + 1);
    absl::StrAppend(&replaced,
                    absl::StartsWith(line, begin) ? replacement : line);
    text.remove_prefix(line.size());
  }
  return replaced;
}

// Only the owner may read the file, although it has only hashes.
absl::Status WriteTokenFile(const std::string& path, absl::string_view text) {
  const FileDescriptor made(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!made.is_open()) return FileError(errno, path, "cannot be made");
  return ReplaceFile(path, text, ToDisk::kFlush);
}

}  // namespace

absl::StatusOr<std::vector<KeptToken>> ParseTokenFile(absl::string_view text) {
  std::vector<KeptToken> tokens;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<KeptToken> token = ParseLine(line);
    if (!token.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": ", token.status().message()));
    }
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

std::string TokenFileText(const std::vector<KeptToken>& tokens) {
  std::string text;
  for (const KeptToken& token : tokens) {
    absl::StrAppend(&text, token.grant.name, "\t", token.sha256, "\t",
                    ScopesText(token.grant.scopes), "\t",
                    token.grant.expiry_unix_seconds);
    const std::string limits = LimitsText(token.grant.limits);
    const std::string labels = absl::StrJoin(token.grant.owned_labels, ",");
    if (!limits.empty() || !labels.empty()) {
      absl::StrAppend(&text, "\t", limits);
    }
    if (!labels.empty()) absl::StrAppend(&text, "\t", labels);
    text += "\n";
  }
  return text;
}

absl::StatusOr<std::vector<KeptToken>> ReadTokenFile(const std::string& path) {
  absl::StatusOr<TokenFile> file = ReadFile(path);
  if (!file.ok()) return file.status();
  return std::move(file->tokens);
}

absl::StatusOr<std::string> AddAccessToken(const std::string& path,
                                           const AccessGrant& grant) {
  const absl::Status valid = CheckGrant(grant);
  if (!valid.ok()) return valid;
  const absl::StatusOr<FileLock> lock = FileLock::Acquire(path + ".lock");
  if (!lock.ok()) return lock.status();
  absl::StatusOr<TokenFile> file = ReadFile(path);
  if (!file.ok()) return file.status();
  for (const KeptToken& token : file->tokens) {
    if (token.grant.name == grant.name) {
      return absl::AlreadyExistsError(
          absl::StrCat("there is a token '", grant.name,
                       "'; remove it or take another name"));
    }
  }
  absl::StatusOr<std::string> made = NewToken();
  if (!made.ok()) return made.status();
  absl::StrAppend(&file->text, TokenFileText({{grant, Sha256Hex(*made)}}));
  const absl::Status written = WriteTokenFile(path, file->text);
  if (!written.ok()) return written;
  return made;
}

absl::StatusOr<AccessGrant> ChangeAccessToken(
    const std::string& path, const std::string& name,
    const std::function<absl::Status(AccessGrant* grant)>& change) {
  const absl::StatusOr<FileLock> lock = FileLock::Acquire(path + ".lock");
  if (!lock.ok()) return lock.status();
  absl::StatusOr<TokenFile> file = ReadFile(path);
  if (!file.ok()) return file.status();
  const auto found = std::find_if(
      file->tokens.begin(), file->tokens.end(),
      [&](const KeptToken& token) { return token.grant.name == name; });
  if (found == file->tokens.end()) return NoSuchToken(name);
  absl::Status status = change(&found->grant);
  found->grant.name = name;
  if (status.ok()) status = CheckGrant(found->grant);
  if (status.ok()) {
    // Two lines of a file that people write may have one name.
    status = WriteTokenFile(
        path,
        ReplaceLines(file->text, absl::StrCat(name, "\t", found->sha256, "\t"),
                     TokenFileText({*found})));
  }
  if (!status.ok()) return status;
  return found->grant;
}

absl::Status RemoveAccessToken(const std::string& path,
                               const std::string& name) {
  const absl::StatusOr<FileLock> lock = FileLock::Acquire(path + ".lock");
  if (!lock.ok()) return lock.status();
  absl::StatusOr<TokenFile> file = ReadFile(path);
  if (!file.ok()) return file.status();
  if (std::none_of(
          file->tokens.begin(), file->tokens.end(),
          [&](const KeptToken& token) { return token.grant.name == name; })) {
    return NoSuchToken(name);
  }
  return WriteTokenFile(path,
                        ReplaceLines(file->text, absl::StrCat(name, "\t"), ""));
}

absl::Status AccessTokens::ReadIfChanged() {
  const std::string version = FileVersion(path_);
  if (version == version_) return absl::OkStatus();
  absl::StatusOr<std::vector<KeptToken>> tokens = ReadTokenFile(path_);
  if (!tokens.ok()) return tokens.status();
  tokens_ = *std::move(tokens);
  version_ = version;
  return absl::OkStatus();
}

absl::StatusOr<AccessGrant> AccessTokens::Check(absl::string_view token,
                                                int64_t now_unix_seconds) {
  if (IsJsonWebToken(token)) {
    if (oidc_ != nullptr) return oidc_->Check(token, now_unix_seconds);
    return absl::UnauthenticatedError(
        "this server takes no tokens of CI systems; its operator starts it "
        "with "
        "`serve --oidc=FILE`, or makes a token with `serve token add`");
  }
  const std::string sha256 = Sha256Hex(token);
  MutexLock lock(&mutex_);
  const absl::Status status = ReadIfChanged();
  if (!status.ok()) return status;
  const KeptToken* found = nullptr;
  for (const KeptToken& each : tokens_) {
    if (IsSame(each.sha256, sha256)) found = &each;
  }
  if (found == nullptr) {
    return absl::UnauthenticatedError(
        "no such token; the server's operator makes one with `serve token "
        "add`");
  }
  if (found->grant.expiry_unix_seconds != 0 &&
      now_unix_seconds >= found->grant.expiry_unix_seconds) {
    return absl::UnauthenticatedError(
        absl::StrCat("the token '", found->grant.name,
                     "' expired; the server's operator makes another with "
                     "`serve token add`"));
  }
  return found->grant;
}

absl::Status AccessTokens::ForEachGrant(
    const std::function<void(const AccessGrant& grant)>& call) {
  if (oidc_ != nullptr) {
    for (const AccessGrant& each : oidc_->grants()) call(each);
  }
  MutexLock lock(&mutex_);
  const absl::Status status = ReadIfChanged();
  if (!status.ok()) return status;
  for (const KeptToken& each : tokens_) call(each.grant);
  return absl::OkStatus();
}

absl::StatusOr<bool> AccessTokens::HasOwners() {
  bool has_owners = false;
  const absl::Status status = ForEachGrant([&](const AccessGrant& each) {
    has_owners = has_owners || !each.owned_labels.empty();
  });
  if (!status.ok()) return status;
  return has_owners;
}

absl::StatusOr<int64_t> AccessTokens::FindCpuWeight(absl::string_view name) {
  int64_t own = 0;
  int64_t others = 0;
  const absl::Status status = ForEachGrant([&](const AccessGrant& each) {
    const int64_t weight = each.limits.cpu_weight;
    if (weight > 0) others = kUsualCpuWeight;
    if (each.name == name) own = std::max(own, weight);
  });
  if (!status.ok()) return status;
  return own > 0 ? own : others;
}

absl::Status AccessTokens::CheckOwner(absl::string_view name,
                                      absl::string_view label) {
  std::set<std::string> owners;
  const absl::Status status = ForEachGrant([&](const AccessGrant& each) {
    for (const std::string& pattern : each.owned_labels) {
      if (LabelMatches(pattern, label)) owners.insert(each.name);
    }
  });
  if (!status.ok()) return status;
  if (owners.empty() || owners.count(std::string(name)) > 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the label ", EscapeForTerminal(label), " belongs to the token '",
      absl::StrJoin(owners, "' and the token '"), "', and this is the token '",
      name,
      "'; submit with an owner's token, give the bundle another label, or ask "
      "the server's operator for `serve token set ",
      name, " --owns=...`, or for `owns` in the file of --oidc"));
}

}  // namespace footprint
