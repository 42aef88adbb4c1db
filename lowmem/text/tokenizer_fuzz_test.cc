// Opens any text as a tokenizer.json. A tokenizer that is accepted must encode
// and decode texts with ids that it has.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/lowmem/text/tokenizer.h"

namespace footprint {
namespace {

constexpr absl::string_view kTexts[] = {
    "", "abc ab<s> 12", "  \t\n\xc3\xa9\xe4\xbd\xa0 e\xcc\x81",
    "\xf0\x9f\x98\x80 A_b-c.d \xe2\x96\x81 [MASK]"};

void OpenAnyTokenizer(absl::string_view json) {
  const std::string folder = TestPath("fuzz");
  mkdir(folder.c_str(), 0777);
  Require(ReplaceFile(folder + "/tokenizer.json", json, ToDisk::kNoFsync).ok(),
          "the file is written");
  const auto tokenizer = Tokenizer::Open(folder);
  if (!tokenizer.ok()) return RequireRefusal(tokenizer.status());
  for (const absl::string_view text : kTexts) {
    const auto ids = (*tokenizer)->Encode(text, SpecialIds::kInclude);
    // A pattern may exceed PCRE2's limit on a text.
    if (!ids.ok()) {
      Require(ids.status().code() == absl::StatusCode::kResourceExhausted,
              "a text of UTF-8 is encoded");
      continue;
    }
    for (const int32_t id : *ids) Require(id >= 0, "ids are not negative");
    (*tokenizer)->Decode(*ids, SpecialIds::kInclude);
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(OpenAnyTokenizer)

}  // namespace footprint
