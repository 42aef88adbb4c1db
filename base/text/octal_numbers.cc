#include "footprint/base/text/octal_numbers.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/text_format_errors.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace footprint {
namespace {

using ::google::protobuf::io::Tokenizer;

class NoErrors : public TextFormatErrors {
 public:
  void Add(int, int, const std::string&) override {}
};

bool IsOctal(absl::string_view number) {
  return number.size() > 1 && number[0] == '0' &&
         absl::ascii_isdigit(static_cast<unsigned char>(number[1]));
}

}  // namespace

std::vector<OctalNumber> FindOctalNumbers(absl::string_view text) {
  std::vector<OctalNumber> found;
  NoErrors errors;
  google::protobuf::io::ArrayInputStream stream(text.data(),
                                                static_cast<int>(text.size()));
  Tokenizer tokenizer(&stream, &errors);
  tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
  while (tokenizer.Next()) {
    const Tokenizer::Token& token = tokenizer.current();
    if (token.type != Tokenizer::TYPE_INTEGER || !IsOctal(token.text)) continue;
    absl::string_view digits = token.text;
    while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
    found.push_back({token.line, token.column,
                     absl::StrCat("the number ", token.text,
                                  " begins with a zero, which makes it octal; "
                                  "write ",
                                  digits)});
  }
  return found;
}

}  // namespace footprint
