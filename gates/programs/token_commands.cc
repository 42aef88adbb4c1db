#include "footprint/gates/programs/token_commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/gates/commands/number_flags.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/server/access_grant.h"
#include "footprint/gates/server/audit_log.h"
#include "footprint/gates/server/utc_time.h"
#include "footprint/gates/server/validation_server.h"
#include "footprint/gates/store/submitter_limits.h"

namespace footprint {
namespace {

constexpr int64_t kMostDays = 36500;
// The value of a flag that takes a limit, an expiry or labels away.
constexpr char kNone[] = "none";
constexpr char kNever[] = "never";

absl::Status SetExpiry(const std::string& text, int64_t* expiry) {
  int64_t days = 0;
  absl::Duration duration;
  if (text == kNever) {
    *expiry = 0;
    return absl::OkStatus();
  }
  // absl::ParseDuration has no days.
  if (!text.empty() && text.back() == 'd' &&
      absl::SimpleAtoi(text.substr(0, text.size() - 1), &days)) {
    duration = absl::Hours(24) * days;
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        "--expires must be a time such as 90d or 12h, or never");
  }
  // The sum with the present time must not overflow.
  if (duration <= absl::ZeroDuration() ||
      duration > absl::Hours(24) * kMostDays) {
    return absl::InvalidArgumentError(
        absl::StrCat("--expires must be a time above zero and at most ",
                     kMostDays, "d, or never"));
  }
  *expiry =
      static_cast<int64_t>(std::time(nullptr)) + absl::ToInt64Seconds(duration);
  return absl::OkStatus();
}

// Sets the limits that the flags name.
absl::Status SetLimits(const CommandFlags& flags, SubmitterLimits* limits) {
  struct Limit {
    const char* name;
    int64_t* value;
    int64_t most;  // 0: bytes with a unit
    const char* why_above_zero = "is no limit that a bundle could keep";
  };
  const Limit all[] = {
      {"most_waiting", &limits->most_undecided, kMostUndecidedLimit},
      {"most_budget", &limits->most_budget_bytes, 0},
      {"most_time", &limits->most_seconds, kMostSecondsLimit},
      {"cpu_weight", &limits->cpu_weight, kMostCpuWeight,
       "would give a bundle no share of the processors"}};
  for (const auto& [name, value, most, why_above_zero] : all) {
    if (!flags.Has(name)) continue;
    if (flags.Value(name, "") == kNone) {
      *value = 0;
      continue;
    }
    const absl::Status status = most == 0
                                    ? SetBytesFlag(flags, name, value)
                                    : SetNumberFlag(flags, name, most, value);
    if (!status.ok()) return status;
    if (*value == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=0 ", why_above_zero,
                       "; leave it out, or write `token set NAME --", name,
                       "=none` to remove what was set"));
    }
  }
  return absl::OkStatus();
}

// Sets the rights that the flags name, and leaves all others.
absl::Status SetRights(const CommandFlags& flags, AccessGrant* grant) {
  if (flags.Has("scopes")) {
    const absl::StatusOr<unsigned> scopes =
        ParseScopes(flags.Value("scopes", ""));
    if (!scopes.ok()) return scopes.status();
    grant->scopes = *scopes;
  }
  if (flags.Has("expires")) {
    const absl::Status status =
        SetExpiry(flags.Value("expires", ""), &grant->expiry_unix_seconds);
    if (!status.ok()) return status;
  }
  if (flags.Has("owns")) {
    grant->owned_labels = flags.Values("owns");
    if (grant->owned_labels == std::vector<std::string>{kNone}) {
      grant->owned_labels.clear();
    } else if (std::count(grant->owned_labels.begin(),
                          grant->owned_labels.end(), kNone) > 0) {
      return absl::InvalidArgumentError(
          "--owns=none removes all labels, so it goes without other --owns");
    }
  }
  return SetLimits(flags, &grant->limits);
}

// Returns the line of `token list`, without the name.
std::string RightsText(const AccessGrant& grant) {
  std::vector<std::string> texts = {
      ScopesText(grant.scopes), grant.expiry_unix_seconds == 0
                                    ? "never expires"
                                    : FormatUtcTime(grant.expiry_unix_seconds)};
  const std::string limits = LimitsText(grant.limits);
  if (!limits.empty()) texts.push_back(limits);
  if (!grant.owned_labels.empty()) {
    texts.push_back(
        absl::StrCat("owns ", absl::StrJoin(grant.owned_labels, ",")));
  }
  return absl::StrJoin(texts, "  ");
}

absl::Status ListTokens(const std::string& path) {
  const absl::StatusOr<std::vector<KeptToken>> tokens = ReadTokenFile(path);
  if (!tokens.ok()) return tokens.status();
  std::string text;
  for (const KeptToken& token : *tokens) {
    absl::StrAppend(&text, token.grant.name, "  ", RightsText(token.grant),
                    "\n");
  }
  return WriteStandardOutput(text);
}

absl::Status AddToken(const CommandFlags& flags, const std::string& name,
                      const std::string& store_folder) {
  AccessGrant grant = {name, kSubmitScope | kReadScope};
  absl::Status status = SetRights(flags, &grant);
  if (status.ok()) status = CheckGrant(grant);
  if (status.ok()) status = RecordTokenChange(store_folder, "token add", grant);
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> token =
      AddAccessToken(MakeTokenPath(store_folder), grant);
  if (!token.ok()) return token.status();
  std::fprintf(stderr,
               "serve: this is shown once; give it to `submit` by "
               "FOOTPRINT_TOKEN\n");
  return WriteStandardOutput(*token + "\n");
}

absl::Status ChangeToken(const CommandFlags& flags, const std::string& name,
                         const std::string& store_folder) {
  bool has_change = false;
  for (const std::string& flag : TokenFlags()) {
    has_change = has_change || flags.Has(flag);
  }
  if (!has_change) {
    return absl::InvalidArgumentError(
        absl::StrCat("`token set ", name, "` changes nothing; give one of --",
                     absl::StrJoin(TokenFlags(), ", --")));
  }
  const absl::StatusOr<AccessGrant> changed = ChangeAccessToken(
      MakeTokenPath(store_folder), name, [&](AccessGrant* grant) {
        absl::Status status = SetRights(flags, grant);
        if (status.ok()) status = CheckGrant(*grant);
        return status.ok()
                   ? RecordTokenChange(store_folder, "token set", *grant)
                   : status;
      });
  if (!changed.ok()) return changed.status();
  return WriteStandardOutput(
      absl::StrCat(changed->name, "  ", RightsText(*changed), "\n"));
}

}  // namespace

const std::vector<std::string>& TokenFlags() {
  static const auto* const flags = new std::vector<std::string>(
      {"scopes", "expires", "most_waiting", "most_budget", "most_time",
       "cpu_weight", "owns"});
  return *flags;
}

absl::Status RecordTokenChange(const std::string& store_folder,
                               const char* action, const AccessGrant& grant) {
  AuditEntry entry;
  entry.who = absl::StrCat("uid ", getuid());
  entry.action = action;
  entry.details = {{"token", grant.name}};
  if (grant.scopes != 0)
    entry.details.emplace_back("rights", RightsText(grant));
  return AppendToAuditLog(MakeAuditLogPath(store_folder),
                          static_cast<int64_t>(std::time(nullptr)), entry);
}

absl::Status ManageTokens(const CommandFlags& flags,
                          const std::string& store_folder) {
  const std::vector<std::string>& words = flags.words();
  const std::string verb = words.size() > 1 ? words[1] : "";
  const std::string path = MakeTokenPath(store_folder);
  if (verb == "list" && words.size() == 2) return ListTokens(path);
  if (words.size() == 3) {
    const std::string& name = words[2];
    if (verb == "add") return AddToken(flags, name, store_folder);
    if (verb == "set") return ChangeToken(flags, name, store_folder);
    if (verb == "remove") {
      const absl::Status recorded =
          RecordTokenChange(store_folder, "token remove", {name});
      return recorded.ok() ? RemoveAccessToken(path, name) : recorded;
    }
  }
  return absl::InvalidArgumentError(
      "write `token add NAME`, `token set NAME`, `token list` or `token remove "
      "NAME`");
}

}  // namespace footprint
