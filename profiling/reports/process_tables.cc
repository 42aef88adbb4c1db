#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

const char* DescribeEnd(const MeasuredImage& image) {
  switch (image.end()) {
    case MeasuredImage::EXITED:
    case MeasuredImage::EXITED_AT_ONCE:
      return "exit";
    case MeasuredImage::KILLED:
      return "killed";
    case MeasuredImage::BECAME_ANOTHER:
      return "exec";
    case MeasuredImage::RUNS_ON:
      return "runs on";
    default:
      return "unknown";
  }
}

// A shell script may start hundreds of processes that need some KiB each.
constexpr size_t kMostProcesses = 24;

int64_t FindNeed(const MeasuredImage& image) {
  return std::max(OwnPeakBytes(image), image.peak_resident_bytes());
}

bool EndedAsPlanned(const MeasuredImage& image) {
  return image.end() == MeasuredImage::EXITED ||
         image.end() == MeasuredImage::EXITED_AT_ONCE ||
         image.end() == MeasuredImage::BECAME_ANOTHER;
}

// Finds the processes that needed most, and all that were killed or run on.
std::vector<bool> FindShownImages(const MeasuredRun& run) {
  std::vector<int> by_need(static_cast<size_t>(run.images_size()));
  std::iota(by_need.begin(), by_need.end(), 0);
  std::stable_sort(by_need.begin(), by_need.end(), [&run](int a, int b) {
    return FindNeed(run.images(a)) > FindNeed(run.images(b));
  });
  std::vector<bool> is_shown(by_need.size());
  for (size_t rank = 0; rank < by_need.size(); ++rank) {
    is_shown[static_cast<size_t>(by_need[rank])] =
        rank < kMostProcesses || !EndedAsPlanned(run.images(by_need[rank]));
  }
  return is_shown;
}

ReportValue BytesIf(bool is_known, int64_t bytes) {
  return is_known ? BytesValue(bytes) : ReportValue();
}

}  // namespace

void AddThreadTable(const MeasuredImage& image, Report* report) {
  // The first entry stands for no known thread.
  constexpr int kLeastThreads = 3;
  if (image.threads_size() < kLeastThreads) return;
  std::vector<const MeasuredThread*> threads;
  for (const MeasuredThread& thread : image.threads()) {
    if (thread.allocated_bytes() > 0 || thread.at_peak_bytes() > 0) {
      threads.push_back(&thread);
    }
  }
  if (threads.empty()) return;
  std::stable_sort(threads.begin(), threads.end(),
                   [](const MeasuredThread* a, const MeasuredThread* b) {
                     return a->at_peak_bytes() > b->at_peak_bytes();
                   });
  ReportTable table;
  table.heading = "Threads";
  table.row_name = "thread";
  table.text_rows = 8;
  table.sum_column = 1;
  table.columns = {{"thread", ReportUnit::kNumber},
                   {"at the peak", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"allocated", ReportUnit::kBytes},
                   {"name"}};
  for (const MeasuredThread* thread : threads) {
    ReportRow row;
    row.cells = {
        thread->number() == 0 ? ReportValue() : NumberValue(thread->number()),
        BytesValue(thread->at_peak_bytes()),
        ShareValue(thread->at_peak_bytes(), image.peak_live_bytes()),
        BytesValue(thread->allocated_bytes()),
        TextValue(thread->number() == 0 ? "not known" : thread->name())};
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));
}

void AddProcessTable(const MeasuredRun& run, Report* report) {
  if (run.images_size() < 2) return;
  const std::vector<bool> is_shown = FindShownImages(run);
  ReportTable table;
  table.heading = "Processes";
  table.row_name = "process";
  table.sum_column = 3;
  // The own peak of a fork is the part above its parent's bytes.
  table.columns = {{"process", ReportUnit::kNumber},
                   {"parent", ReportUnit::kNumber},
                   {"began", ReportUnit::kNanoseconds},
                   {"own peak", ReportUnit::kBytes},
                   {"resident", ReportUnit::kBytes},
                   {"allocated", ReportUnit::kBytes, true},
                   {"end"},
                   {"command"}};
  for (int i = 0; i < run.images_size(); ++i) {
    const MeasuredImage& each = run.images(i);
    if (!is_shown[static_cast<size_t>(i)]) {
      ++table.other_count;
      table.other_sum = SaturatedSum(table.other_sum, OwnPeakBytes(each));
      continue;
    }
    ReportRow row;
    row.cells = {
        NumberValue(each.process_id()),
        NumberValue(each.parent_process_id()),
        TimeValue(SaturatedDifference(each.begin_time_ns(), BeginTimeNs(run))),
        BytesValue(OwnPeakBytes(each)),
        BytesIf(each.peak_resident_bytes() != 0, each.peak_resident_bytes()),
        BytesIf(each.has_totals(), each.allocated_bytes()),
        TextValue(DescribeEnd(each)),
        TextValue(absl::StrJoin(each.command_line(), " "))};
    table.rows.push_back(std::move(row));
  }
  table.text_rows = table.rows.size();
  if (table.other_count > 0) {
    table.note = "--json=FILE has every process";
  }
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
