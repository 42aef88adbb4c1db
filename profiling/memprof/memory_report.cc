#include "footprint/profiling/memprof/memory_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/memprof/site_table.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {
namespace {

constexpr size_t kMaxCommandCharacters = 60;
constexpr size_t kMaxSites = 12;

std::string Seconds(int64_t ns) {
  return absl::StrFormat("%.3f s", static_cast<double>(ns) * 1e-9);
}

std::string Command(const MeasuredProcess& process) {
  std::string command = absl::StrJoin(process.command_line, " ");
  for (char& each : command) {
    if (static_cast<unsigned char>(each) < ' ') each = ' ';
  }
  if (command.size() > kMaxCommandCharacters) {
    command = absl::StrCat(command.substr(0, kMaxCommandCharacters - 3), "...");
  }
  return command;
}

const MeasuredProcess* LargestProcess(const AgentRunEnd& end) {
  const auto largest =
      std::max_element(end.processes.begin(), end.processes.end(),
                       [](const MeasuredProcess& a, const MeasuredProcess& b) {
                         return a.own_peak_bytes() < b.own_peak_bytes();
                       });
  return largest == end.processes.end() ? nullptr : &*largest;
}

std::string Headline(const AgentRunEnd& end, const MeasuredProcess& largest) {
  const int64_t begin_ns = end.processes.front().begin_time_ns;
  std::string text = absl::StrCat(
      "peak heap  ", FormatBytes(largest.own_peak_bytes()), ", after ",
      Seconds(std::max<int64_t>(0, largest.peak_time_ns - begin_ns)), " of ",
      Seconds(end.wall_time_ns), "\n");
  if (end.processes.size() > 1) {
    absl::StrAppend(&text, "           in process ", largest.process_id, ": ",
                    Command(largest), "\n");
  }
  absl::StrAppend(&text, "resident   ",
                  FormatBytes(std::max(end.peak_resident_sum_bytes,
                                       largest.peak_resident_bytes)),
                  end.processes.size() > 1
                      ? " at most at once, all processes together\n"
                      : " at most\n");
  if (largest.peak_mapped_bytes > 0) {
    absl::StrAppend(&text, "mapped     ",
                    FormatBytes(largest.peak_mapped_bytes),
                    " of addresses by the program itself\n");
  }
  if (largest.has_totals) {
    absl::StrAppend(&text, "allocated  ", FormatBytes(largest.allocated_bytes),
                    " in ", FormatCount(largest.allocation_count),
                    " calls; left at the end ", FormatBytes(largest.live_bytes),
                    "\n");
  }
  return text;
}

std::string EndOf(const AgentRunEnd& run, const MeasuredProcess& process) {
  if (process.has_totals) return "exit";
  if (process.is_running) return "runs on";
  for (const MeasuredProcess& each : run.processes) {
    if (each.process_id == process.process_id && each.image > process.image) {
      return "exec";
    }
  }
  return "killed";
}

std::string ProcessTable(const AgentRunEnd& end) {
  TextTable table({{"process", TextTable::kFigures},
                   {"parent", TextTable::kFigures},
                   {"began", TextTable::kFigures},
                   {"peak heap", TextTable::kFigures},
                   {"resident", TextTable::kFigures},
                   {"end"},
                   {"command"}});
  std::vector<std::vector<std::string>> rows;
  for (const MeasuredProcess& each : end.processes) {
    rows.push_back(
        {absl::StrCat(each.process_id), absl::StrCat(each.parent_process_id),
         Seconds(each.begin_time_ns - end.processes.front().begin_time_ns),
         FormatRoundedBytes(each.own_peak_bytes()),
         each.peak_resident_bytes == 0
             ? "-"
             : FormatRoundedBytes(each.peak_resident_bytes),
         EndOf(end, each), Command(each)});
    table.Fit(rows.back());
  }
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, table.Row(row));
  }
  return text;
}

std::string Place(const SiteRow& row) {
  if (row.file.empty()) return row.module;
  return absl::StrCat(row.file, ":", row.line);
}

std::string Share(int64_t part, int64_t whole) {
  return absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(part) /
                                        static_cast<double>(whole));
}

// What is not in the figures, so that nobody takes them for the whole.
std::string Warnings(const AgentRunEnd& end, const MeasuredProcess& largest) {
  std::string text;
  for (const MeasuredProcess& each : end.processes) {
    if (each.is_counted()) continue;
    absl::StrAppend(
        &text, "warning    process ", each.process_id, " (", Command(each),
        each.has_foreign_new
            ? ") has an operator new of its own: what that hands out "
              "may not be counted\n"
            : ") allocated nothing by malloc: does it have an "
              "allocator of its own?\n");
  }
  if (end.wanted_sites && !largest.sites.has_value()) {
    absl::StrAppend(&text,
                    "warning    call sites were not recorded: no room in "
                    "TMPDIR, or a limit of file sizes (ulimit -f)\n");
  } else if (largest.sites.has_value() && largest.sites->is_incomplete) {
    absl::StrAppend(&text,
                    "warning    some call sites found no room: their bytes "
                    "stand under [before the agent began] or nowhere\n");
  }
  return text;
}

std::string SiteText(const SiteRow& row) {
  constexpr size_t kMaxCharacters = 70;
  return row.function.size() <= kMaxCharacters
             ? row.function
             : absl::StrCat(row.function.substr(0, kMaxCharacters - 3), "...");
}

std::string SiteTable(const MeasuredProcess& process) {
  Symbolizer symbolizer;
  const std::vector<SiteRow> rows = SiteRows(*process.sites, &symbolizer);
  const bool is_sampled = process.sites->sampling_interval_bytes != 0;
  TextTable table({{"at the peak", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {is_sampled ? "sigma" : "blocks", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  int64_t shown_bytes = 0;
  for (const SiteRow& row : rows) {
    if (cells.size() == kMaxSites || row.at_peak.bytes <= 0) break;
    shown_bytes += row.at_peak.bytes;
    cells.push_back({FormatRoundedBytes(row.at_peak.bytes),
                     Share(row.at_peak.bytes, process.peak_live_bytes),
                     is_sampled ? FormatRoundedBytes(static_cast<int64_t>(
                                      std::sqrt(row.at_peak.variance)))
                                : FormatCount(row.at_peak.count),
                     SiteText(row), Place(row)});
    table.Fit(cells.back());
  }
  int64_t all_bytes = 0;
  for (const SiteRow& row : rows) all_bytes += row.at_peak.bytes;
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : cells) {
    absl::StrAppend(&text, table.Row(row));
  }
  if (all_bytes > shown_bytes) {
    absl::StrAppend(&text, "and ", FormatBytes(all_bytes - shown_bytes),
                    " at other places\n");
  }
  absl::StrAppend(
      &text, is_sampled
                 ? absl::StrCat("estimated from a sample every ",
                                FormatRoundedBytes(
                                    process.sites->sampling_interval_bytes),
                                "; --sampling=0 records each allocation\n")
                 : "each allocation was recorded: the rows add up to the "
                   "peak\n");
  return text;
}

}  // namespace

std::string MemoryReport(const AgentRunEnd& end) {
  const MeasuredProcess* const largest = LargestProcess(end);
  if (largest == nullptr) {
    return "nothing was measured: the agent was not loaded\n";
  }
  std::string text = Headline(end, *largest);
  absl::StrAppend(&text, Warnings(end, *largest));
  if (largest->sites.has_value()) {
    absl::StrAppend(&text, "\n", SiteTable(*largest));
  }
  if (end.processes.size() > 1) {
    absl::StrAppend(&text, "\n", ProcessTable(end));
  }
  return text;
}

}  // namespace footprint
