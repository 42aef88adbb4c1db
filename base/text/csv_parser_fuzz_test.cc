// Parses any text as CSV. Its fields and errors are the same, whether the
// parser has the whole text at once or gets it piece by piece.

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/text/csv_parser.h"

namespace footprint {
namespace {

// Returns the text in pieces, each in a block that ends with it.
class PieceParser : public CsvParser {
 public:
  PieceParser(absl::string_view text, size_t piece_bytes, char delimiter)
      : CsvParser(delimiter), rest_(text), piece_bytes_(piece_bytes) {
    (void)Begin("x.csv");
  }

 private:
  absl::StatusOr<absl::string_view> NextBytes() override {
    piece_ = std::string(rest_.substr(0, piece_bytes_));
    rest_.remove_prefix(piece_.size());
    return piece_;
  }

  absl::string_view rest_;
  const size_t piece_bytes_;
  std::string piece_;
};

std::string ReadAll(CsvParser* fields) {
  std::string all;
  while (fields->Next()) {
    Require(fields->text().size() <= CsvParser::kMaximumFieldBytes,
            "a field has a limit");
    absl::StrAppend(&all, fields->Location(), fields->is_quoted(),
                    fields->is_last_in_record(), fields->text(), "\n");
  }
  if (!fields->status().ok()) RequireRefusal(fields->status());
  return absl::StrCat(all, fields->status().message());
}

void ParseAnyText(absl::string_view bytes) {
  if (bytes.size() < 2) return;
  const char delimiter = ",;\t|"[bytes[0] & 3];
  const size_t piece_bytes = 3 + (static_cast<unsigned char>(bytes[1]) & 31);
  const absl::string_view text = bytes.substr(2);
  CsvParser whole("x.csv", text, delimiter);
  PieceParser pieces(text, piece_bytes, delimiter);
  Require(ReadAll(&whole) == ReadAll(&pieces), "pieces make no difference");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyText)

}  // namespace footprint
