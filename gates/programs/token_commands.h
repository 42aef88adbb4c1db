// Runs the commands of `serve` that manage tokens: `token add`, `token set`,
// `token list` and `token remove`.
//
//   absl::Status status = ManageTokens(flags, "/var/lib/footprint");
//
// Each change has an entry in the store's audit log (audit_log.h), which is
// written first. A server that runs learns of a change at its next request.
//
// Thread-safe; several processes may run at once. Keeps nothing. Errors:
// InvalidArgument, with the flag, for a command line that is not valid, and
// those of access_tokens.h and audit_log.h.

#ifndef FOOTPRINT_GATES_PROGRAMS_TOKEN_COMMANDS_H_
#define FOOTPRINT_GATES_PROGRAMS_TOKEN_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/server/access_tokens.h"

namespace footprint {

// The flags of `token add` and `token set`.
const std::vector<std::string>& TokenFlags();

// Runs the command in `flags.words()`, of which "token" is the first.
absl::Status ManageTokens(const CommandFlags& flags,
                          const std::string& store_folder);

// Writes an entry about a token to the audit log, in the name of this process's
// user. `grant` has the token's name and its new rights; it has no scopes if
// the token is removed.
absl::Status RecordTokenChange(const std::string& store_folder,
                               const char* action, const AccessGrant& grant);

}  // namespace footprint

// Tested by serve_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_TOKEN_COMMANDS_H_
