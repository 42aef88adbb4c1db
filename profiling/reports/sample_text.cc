#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr size_t kMaxRows = 10;
constexpr size_t kMaxFunctionBytes = 60;

// What of a run stands at one place of the code.
template <typename Sum>
struct Place {
  CodeFrame frame;
  Sum sum;
};

template <typename Sum>
using Places = std::map<std::string, Place<Sum>>;

template <typename Sum>
Sum* SumAt(const MeasuredRun& run, uint32_t call, Places<Sum>* places) {
  CodeFrame frame = PlaceOf(run, call);
  if (call == 0) frame.set_function("[of no known call]");
  Place<Sum>& place = (*places)[frame.SerializeAsString()];
  place.frame = std::move(frame);
  return &place.sum;
}

// Those with most first.
template <typename Sum, typename Size>
std::vector<Place<Sum>> Sorted(Places<Sum> places, Size size) {
  std::vector<Place<Sum>> sorted;
  for (auto& [key, place] : places) sorted.push_back(std::move(place));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Place<Sum>& a, const Place<Sum>& b) {
                     return size(a.sum) > size(b.sum);
                   });
  return sorted;
}

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
  Places<ProcessorTime> places;
  ProcessorTime whole;
  for (const MeasuredImage& image : run.images()) {
    for (const ProcessorTime& time : image.processor_time()) {
      AddTo(time, SumAt(run, time.call(), &places));
      AddTo(time, &whole);
    }
  }
  const int64_t whole_ns = WholeNs(whole);
  if (whole_ns == 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (const Place<ProcessorTime>& place : Sorted(std::move(places), WholeNs)) {
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
  Places<Amount> places;
  Amount whole;
  for (const MeasuredImage& image : run.images()) {
    for (const CopyAmounts& copy : image.copies()) {
      AddTo(copy.copied(), SumAt(run, copy.call(), &places));
      AddTo(copy.copied(), &whole);
    }
  }
  if (whole.bytes() == 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (const Place<Amount>& place :
       Sorted(std::move(places), [](const Amount& a) { return a.bytes(); })) {
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
