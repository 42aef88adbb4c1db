#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/run_page/page_sections.h"

namespace footprint {

std::string PlaceName(const CodeFrame* frame) {
  constexpr size_t kMostFunctionBytes = 90;
  constexpr size_t kMostFileBytes = 50;
  if (frame == nullptr) return "[before the agent began]";
  const std::string function = Shortened(frame->function(), kMostFunctionBytes);
  std::string place = PlaceText(*frame);
  if (place.size() > kMostFileBytes) {
    // The file's name and the line stand at the end.
    size_t begin = place.size() - kMostFileBytes + 3;
    while (begin < place.size() && (place[begin] & 0xC0) == 0x80) ++begin;
    place = absl::StrCat("...", place.substr(begin));
  }
  // "libfoo.so+0x1234" tells the object already.
  return place.empty() || absl::StartsWith(function, absl::StrCat(place, "+"))
             ? function
             : absl::StrCat(function, " (", place, ")");
}

std::string AmountText(const SummedAmount& amount) {
  const double sigma = amount.sigma();
  return sigma < 1
             ? FormatRoundedBytes(amount.bytes)
             : absl::StrCat(FormatRoundedBytes(amount.bytes), " \u00b1 ",
                            FormatRoundedBytes(static_cast<int64_t>(sigma)));
}

// The text report's words, without the names of its lines.
std::vector<std::string> Warnings(const MeasuredRun& run,
                                  const MeasuredImage& image) {
  std::vector<std::string> warnings;
  if (run.signal_number() != 0) {
    warnings.push_back(absl::StrCat("The program was ended by signal ",
                                    run.signal_number(),
                                    "; the figures are those up to then."));
  } else if (run.exit_status() != 0) {
    warnings.push_back(absl::StrCat("The program failed: exit status ",
                                    run.exit_status(), "."));
  }
  const std::string text = WarningText(run, image);
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    for (absl::string_view name : {"warning", "note"}) {
      if (!absl::ConsumePrefix(&line, name)) continue;
      line = absl::StripLeadingAsciiWhitespace(line);
    }
    warnings.emplace_back(line);
  }
  return warnings;
}

}  // namespace footprint
