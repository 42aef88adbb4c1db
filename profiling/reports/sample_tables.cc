#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

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

  // Returns the rows, largest first.
  template <typename Size>
  std::vector<Row> Sorted(Size size) const {
    std::vector<Row> rows;
    for (const auto& [place, sum] : sums_) {
      rows.push_back({places_.FindShownFrame(place), sum});
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

ReportTable SampleTable(const char* heading) {
  ReportTable table;
  table.heading = heading;
  table.row_name = "place";
  table.text_rows = 10;
  table.sum_column = 0;
  return table;
}

void AddProcessorTable(const MeasuredRun& run, const RunReportOptions& options,
                       Report* report) {
  SumsByPlace<ProcessorTime> places(run);
  ProcessorTime whole;
  for (const MeasuredImage& image : run.images()) {
    for (const ProcessorTime& time : image.processor_time()) {
      AddTo(time, places.At(time.call()));
      AddTo(time, &whole);
    }
  }
  const int64_t whole_ns = WholeNs(whole);
  if (whole_ns == 0) return;
  ReportTable table = SampleTable("Processor time");
  table.lead = absl::StrCat("processor time ", Seconds(whole_ns), ": ",
                            Seconds(whole.native_ns()), " native, ",
                            Seconds(whole.interpreter_ns()), " interpreter, ",
                            Seconds(whole.system_ns()), " system; in ",
                            FormatCount(whole.sample_count()), " samples");
  table.columns = {{"time", ReportUnit::kNanoseconds},
                   {"share", ReportUnit::kShare},
                   {"native", ReportUnit::kNanoseconds},
                   {"interpreter", ReportUnit::kNanoseconds},
                   {"system", ReportUnit::kNanoseconds},
                   {"function"},
                   {"where"}};
  for (const auto& place : places.Sorted(WholeNs)) {
    const ProcessorTime& time = place.sum;
    if (options.cpu_threshold.Hides(WholeNs(time), whole_ns)) {
      ++table.other_count;
      table.other_sum = SaturatedSum(table.other_sum, WholeNs(time));
      continue;
    }
    ReportRow row;
    row.cells = {TimeValue(WholeNs(time)), ShareValue(WholeNs(time), whole_ns),
                 TimeValue(time.native_ns()), TimeValue(time.interpreter_ns()),
                 TimeValue(time.system_ns())};
    AddPlace(place.frame, &row);
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));
}

void AddCopyTable(const MeasuredRun& run, Report* report) {
  SumsByPlace<Amount> places(run);
  Amount whole;
  for (const MeasuredImage& image : run.images()) {
    for (const CopyAmounts& copy : image.copies()) {
      AddTo(copy.copied(), places.At(copy.call()));
      AddTo(copy.copied(), &whole);
    }
  }
  if (whole.bytes() == 0) return;
  ReportTable table = SampleTable("Copies");
  table.lead = absl::StrCat(
      "copied ", FormatRoundedBytes(whole.bytes()),
      " by calls of memcpy and its kin; what the compiler or the C library "
      "copies inside is not seen");
  table.columns = {{"copied", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"sigma", ReportUnit::kBytes},
                   {"calls", ReportUnit::kCount},
                   {"function"},
                   {"where"}};
  for (const auto& place :
       places.Sorted([](const Amount& amount) { return amount.bytes(); })) {
    ReportRow row;
    row.cells = {BytesValue(place.sum.bytes()),
                 ShareValue(place.sum.bytes(), whole.bytes()),
                 BytesValue(static_cast<int64_t>(SigmaBytes(place.sum))),
                 CountValue(place.sum.count())};
    AddPlace(place.frame, &row);
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));
}

}  // namespace

void AddSampleTables(const MeasuredRun& run, const RunReportOptions& options,
                     Report* report) {
  AddProcessorTable(run, options, report);
  AddCopyTable(run, report);
}

}  // namespace footprint
