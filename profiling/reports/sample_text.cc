#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

constexpr size_t kMaxRows = 10;
constexpr size_t kMaxFunctionBytes = 60;

// Sums over a run, by place in the code.
template <typename Sum>
class SumsByPlace {
 public:
  struct Row {
    CodeFrame frame;
    Sum sum;
  };

  explicit SumsByPlace(const MeasuredRun& run) : places_(run) {}

  Sum* At(uint32_t call) { return &sums_[places_.OfCall(call)]; }

  // Those with most first.
  template <typename Size>
  std::vector<Row> Sorted(Size size) const {
    std::vector<Row> rows;
    for (const auto& [place, sum] : sums_) {
      rows.push_back({places_.FrameOf(place), sum});
      if (place == CodePlaces::kNowhere) {
        rows.back().frame.set_function("[of no known call]");
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return size(a.sum) > size(b.sum);
    });
    return rows;
  }

 private:
  const CodePlaces places_;
  std::map<uint32_t, Sum> sums_;
};

void AddTo(const ProcessorTime& time, ProcessorTime* sum) {
  sum->set_sample_count(SaturatedSum(sum->sample_count(), time.sample_count()));
  sum->set_native_ns(SaturatedSum(sum->native_ns(), time.native_ns()));
  sum->set_interpreter_ns(
      SaturatedSum(sum->interpreter_ns(), time.interpreter_ns()));
  sum->set_system_ns(SaturatedSum(sum->system_ns(), time.system_ns()));
}

int64_t WholeNs(const ProcessorTime& time) {
  return SaturatedSum(SaturatedSum(time.native_ns(), time.interpreter_ns()),
                      time.system_ns());
}

}  // namespace

std::string ProcessorText(const MeasuredRun& run,
                          const ReportThreshold& threshold) {
  SumsByPlace<ProcessorTime> places(run);
  ProcessorTime whole;
  for (const MeasuredImage& image : run.images()) {
    for (const ProcessorTime& time : image.processor_time()) {
      AddTo(time, places.At(time.call()));
      AddTo(time, &whole);
    }
  }
  const int64_t whole_ns = WholeNs(whole);
  if (whole_ns == 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& place : places.Sorted(WholeNs)) {
    const ProcessorTime& time = place.sum;
    if (rows.size() == kMaxRows || threshold.Hides(WholeNs(time), whole_ns)) {
      break;
    }
    rows.push_back({Seconds(WholeNs(time)), Share(WholeNs(time), whole_ns),
                    Seconds(time.native_ns()), Seconds(time.interpreter_ns()),
                    Seconds(time.system_ns()),
                    Shortened(place.frame.function(), kMaxFunctionBytes),
                    PlaceText(place.frame)});
  }
  return absl::StrCat("processor  ", Seconds(whole_ns), ": ",
                      Seconds(whole.native_ns()), " native, ",
                      Seconds(whole.interpreter_ns()), " interpreter, ",
                      Seconds(whole.system_ns()), " system; in ",
                      FormatCount(whole.sample_count()), " samples\n",
                      TableText(TextTable({{"time", TextTable::kFigures},
                                           {"share", TextTable::kFigures},
                                           {"native", TextTable::kFigures},
                                           {"interpreter", TextTable::kFigures},
                                           {"system", TextTable::kFigures},
                                           {"function"},
                                           {"where"}}),
                                rows));
}

std::string CopyText(const MeasuredRun& run) {
  SumsByPlace<Amount> places(run);
  Amount whole;
  for (const MeasuredImage& image : run.images()) {
    for (const CopyAmounts& copy : image.copies()) {
      AddTo(copy.copied(), places.At(copy.call()));
      AddTo(copy.copied(), &whole);
    }
  }
  if (whole.bytes() == 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& place :
       places.Sorted([](const Amount& amount) { return amount.bytes(); })) {
    if (rows.size() == kMaxRows) break;
    rows.push_back(
        {FormatRoundedBytes(place.sum.bytes()),
         Share(place.sum.bytes(), whole.bytes()),
         FormatRoundedBytes(static_cast<int64_t>(SigmaBytes(place.sum))),
         FormatCount(place.sum.count()),
         Shortened(place.frame.function(), kMaxFunctionBytes),
         PlaceText(place.frame)});
  }
  return absl::StrCat(
      "copied     ", FormatRoundedBytes(whole.bytes()), " by calls of memcpy ",
      "and its kin; what the compiler or the C library copies inside is not ",
      "seen\n",
      TableText(TextTable({{"copied", TextTable::kFigures},
                           {"share", TextTable::kFigures},
                           {"sigma", TextTable::kFigures},
                           {"calls", TextTable::kFigures},
                           {"function"},
                           {"where"}}),
                rows));
}

}  // namespace footprint
