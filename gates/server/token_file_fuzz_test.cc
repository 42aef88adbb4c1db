// Reads any text as a token file. What was read survives being written and read
// again.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/server/access_tokens.h"

namespace footprint {
namespace {

void ParseAnyTokens(absl::string_view text) {
  const absl::StatusOr<std::vector<KeptToken>> tokens = ParseTokenFile(text);
  if (!tokens.ok()) return RequireRefusal(tokens.status());
  const std::string written = TokenFileText(*tokens);
  const absl::StatusOr<std::vector<KeptToken>> again = ParseTokenFile(written);
  Require(again.ok(), "what was read can be written");
  Require(TokenFileText(*again) == written, "and is the same again");
  for (const KeptToken& token : *tokens) {
    Require(token.grant.scopes != 0, "a token grants something");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyTokens)

}  // namespace footprint
