#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

struct Part {
  int64_t bytes;
  const char* name;
};

std::vector<Part> ListHeapParts(const ResidentParts& parts) {
  // There are no live bytes if they are from another moment than the pages.
  if (parts.live_bytes() == 0) return {{parts.heap_bytes(), "heap"}};
  // The parts add up to the resident set, so a bar can show them: none of them
  // is negative.
  const Part kept = {parts.kept_bytes(),
                     "free in the allocator, and its bookkeeping"};
  if (parts.untouched_bytes() == 0) {
    return {{parts.live_bytes(), "live heap"}, kept};
  }
  return {{SaturatedSum(parts.live_bytes(), parts.untouched_bytes()),
           "live heap, its touched pages"},
          kept};
}

std::vector<Part> ListOtherParts(const ResidentParts& parts) {
  return {{parts.mapped_bytes(), "mapped by the program itself"},
          {parts.stack_bytes(), "stacks"},
          {parts.image_bytes(), "program and libraries"},
          {parts.file_bytes(), "other files that are mapped"},
          {parts.shared_bytes(), "shared with other processes"},
          {parts.agent_bytes(), "memprof's agent"},
          {parts.other_bytes(), "other"},
          {parts.unexplained_bytes(), "changed during the measurement"}};
}

void AddRows(const std::vector<Part>& parts, int64_t resident_bytes,
             ReportTable* table) {
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    table->rows.push_back(
        {{BytesValue(part.bytes), ShareValue(part.bytes, resident_bytes),
          TextValue(part.name)}});
  }
}

// Returns " near its peak", or how far below it the parts were measured if that
// is more than a fiftieth.
std::string DistanceText(const MeasuredImage& image) {
  const int64_t missed_bytes = SaturatedDifference(
      image.peak_resident_bytes(), image.resident_at_peak().resident_bytes());
  return missed_bytes > image.peak_resident_bytes() / 50
             ? absl::StrCat(", ", FormatRoundedBytes(missed_bytes),
                            " below its peak")
             : " near its peak";
}

}  // namespace

void AddResidentParts(const MeasuredRun& run, const MeasuredImage& image,
                      Report* report) {
  if (!image.has_resident_at_peak()) return;
  const ResidentParts& parts = image.resident_at_peak();
  ReportTable table;
  table.heading = "Resident memory";
  table.row_name = "part";
  table.is_breakdown = true;
  table.lead = absl::StrCat(
      "resident set of process ", image.process_id(), DistanceText(image),
      ", after ",
      Seconds(SaturatedDifference(parts.time_ns(), BeginTimeNs(run))), ":");
  table.columns = {{"resident", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"part"}};
  AddRows(ListHeapParts(parts), parts.resident_bytes(), &table);
  AddRows(ListOtherParts(parts), parts.resident_bytes(), &table);
  table.text_rows = table.rows.size();
  table.note = absl::StrCat(
      parts.untouched_bytes() < 0
          ? absl::StrCat("another ",
                         FormatRoundedBytes(
                             SaturatedDifference(0, parts.untouched_bytes())),
                         " of the live heap was never touched; ")
          : "",
      "page faults ", FormatCount(parts.minor_fault_count()),
      " without a read, ", FormatCount(parts.major_fault_count()), " with one",
      parts.swapped_bytes() == 0
          ? ""
          : absl::StrCat("; another ",
                         FormatRoundedBytes(parts.swapped_bytes()),
                         " was swapped out"));
  report->tables.push_back(std::move(table));
}

void AddGraphicsTable(const MeasuredRun& run, Report* report) {
  if (run.graphics().empty()) return;
  ReportTable table;
  table.heading = "Graphics memory";
  table.row_name = "device";
  table.columns = {{"graphics", ReportUnit::kBytes},
                   {"busy", ReportUnit::kNanoseconds},
                   {"process", ReportUnit::kNumber},
                   {"device"}};
  for (const GraphicsMemory& use : run.graphics()) {
    const bool is_of_all = use.process_id() == 0;
    ReportRow row;
    row.cells = {
        use.has_peak_bytes() || is_of_all ? BytesValue(use.peak_bytes())
                                          : ReportValue(),
        is_of_all ? ReportValue() : TimeValue(use.busy_ns()),
        is_of_all ? ReportValue() : NumberValue(use.process_id()),
        TextValue(absl::StrCat(
            use.device(), " (", use.device_name(), ")",
            is_of_all ? ", all processes, beyond what was in use before the run"
                      : ""))};
    table.rows.push_back(std::move(row));
  }
  table.text_rows = table.rows.size();
  table.note = ShortenText(run.graphics_note(), 300);
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
