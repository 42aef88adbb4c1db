#include "footprint/profiling/reports/compare_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr size_t kMaxRows = 15;
constexpr size_t kMaxFunctionBytes = 60;
constexpr size_t kMaxCommandBytes = 70;

std::string Signed(int64_t bytes) {
  return absl::StrCat(bytes > 0 ? "+" : "", FormatRoundedBytes(bytes));
}

std::string ChangeOfShare(int64_t before, int64_t after) {
  if (before == 0) return "";
  return absl::StrFormat(
      "%+.1f %%",
      100.0 * (static_cast<double>(after) / static_cast<double>(before) - 1.0));
}

struct Figures {
  int64_t peak_bytes = 0;
  int64_t mapped_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;
  int64_t left_bytes = 0;
  int64_t wall_ns = 0;
};

Figures FiguresOf(const MeasuredRun& run, const MeasuredImage& image) {
  Figures figures;
  figures.peak_bytes = OwnPeakBytes(image);
  figures.mapped_bytes = image.peak_mapped_bytes();
  figures.resident_bytes = ResidentTogetherBytes(run);
  figures.allocated_bytes = image.allocated_bytes();
  figures.allocation_count = image.allocation_count();
  figures.left_bytes = image.live_bytes();
  figures.wall_ns = run.wall_time_ns();
  return figures;
}

std::string FigureTable(const Figures& before, const Figures& after) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const char* name, int64_t from, int64_t to,
                           const auto& format) {
    if (from == 0 && to == 0) return;
    rows.push_back({name, format(from), format(to),
                    absl::StrCat(to > from ? "+" : "",
                                 format(SaturatedDifference(to, from))),
                    ChangeOfShare(from, to)});
  };
  add("peak heap", before.peak_bytes, after.peak_bytes, FormatRoundedBytes);
  add("resident", before.resident_bytes, after.resident_bytes,
      FormatRoundedBytes);
  add("mapped", before.mapped_bytes, after.mapped_bytes, FormatRoundedBytes);
  add("allocated", before.allocated_bytes, after.allocated_bytes,
      FormatRoundedBytes);
  add("calls", before.allocation_count, after.allocation_count, FormatCount);
  add("left at the end", before.left_bytes, after.left_bytes,
      FormatRoundedBytes);
  add("time", before.wall_ns, after.wall_ns, Seconds);
  return TableText(TextTable({{""},
                              {"before", TextTable::kFigures},
                              {"after", TextTable::kFigures},
                              {"change", TextTable::kFigures},
                              {"", TextTable::kFigures}}),
                   rows);
}

// Returns those that changed, the most changed first.
template <typename Key, typename Change>
std::vector<Change> SortedChanges(std::map<Key, Change> changes) {
  std::vector<Change> sorted;
  for (auto& [key, change] : changes) {
    if (change.change_bytes() != 0) sorted.push_back(std::move(change));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Change& a, const Change& b) {
                     return std::abs(static_cast<double>(a.change_bytes())) >
                            std::abs(static_cast<double>(b.change_bytes()));
                   });
  return sorted;
}

// A place in both runs.
struct PlaceChange {
  CodeFrame frame;
  Amount before;
  Amount after;

  int64_t change_bytes() const {
    return SaturatedDifference(after.bytes(), before.bytes());
  }
  double sigma_bytes() const {
    return std::hypot(SigmaBytes(before), SigmaBytes(after));
  }
  bool is_marked() const {
    return std::abs(static_cast<double>(change_bytes())) > 2 * sigma_bytes();
  }
};

using PlaceChanges = std::map<std::vector<std::string>, PlaceChange>;

// A rebuilt program may lie elsewhere, and its lines have moved.
PlaceChange& ChangeAt(const CodeFrame& frame, PlaceChanges* changes) {
  PlaceChange& change =
      (*changes)[{frame.function(), std::string(FileName(frame.file())),
                  std::string(FileName(frame.module()))}];
  change.frame = frame;
  return change;
}

std::vector<PlaceChange> ChangesOf(const std::vector<SiteRow>& before,
                                   const std::vector<SiteRow>& after) {
  PlaceChanges changes;
  for (const SiteRow& row : before) {
    AddTo(row.at_peak, &ChangeAt(row.frame, &changes).before);
  }
  for (const SiteRow& row : after) {
    AddTo(row.at_peak, &ChangeAt(row.frame, &changes).after);
  }
  return SortedChanges(std::move(changes));
}

// Takes away the changes that may be chance; returns how many there were.
size_t TakeChance(std::vector<PlaceChange>* changes) {
  const auto end = std::stable_partition(
      changes->begin(), changes->end(),
      [](const PlaceChange& change) { return change.is_marked(); });
  const auto count = static_cast<size_t>(changes->end() - end);
  changes->erase(end, changes->end());
  return count;
}

std::string PlaceTable(std::vector<PlaceChange> changes, bool is_sampled) {
  const size_t chance_count = TakeChance(&changes);
  const std::string chance =
      chance_count == 0
          ? ""
          : absl::StrCat(chance_count,
                         " places changed by less than two sigma, which may be "
                         "chance; --sampling=0 measures without\n");
  const size_t count = changes.size();
  if (count > kMaxRows) changes.resize(kMaxRows);
  if (changes.empty()) {
    return chance_count == 0 ? "at the peak, each place has what it had\n"
                             : absl::StrCat(
                                   "at the peak, no place has surely "
                                   "changed\n",
                                   chance);
  }
  std::vector<TextTable::Column> columns = {
      {"at the peak", TextTable::kFigures},
      {"before", TextTable::kFigures},
      {"after", TextTable::kFigures},
      {"function"},
      {"where"}};
  if (is_sampled) {
    columns.insert(columns.begin() + 1, {"sigma", TextTable::kFigures});
  }
  std::vector<std::vector<std::string>> rows;
  for (const PlaceChange& change : changes) {
    rows.push_back({Signed(change.change_bytes()),
                    FormatRoundedBytes(change.before.bytes()),
                    FormatRoundedBytes(change.after.bytes()),
                    Shortened(change.frame.function(), kMaxFunctionBytes),
                    PlaceText(change.frame)});
    if (is_sampled) {
      rows.back().insert(
          rows.back().begin() + 1,
          FormatRoundedBytes(static_cast<int64_t>(change.sigma_bytes())));
    }
  }
  std::string text = TableText(TextTable(std::move(columns)), rows);
  if (count > kMaxRows) {
    absl::StrAppend(&text, "and ", count - kMaxRows,
                    " places with smaller changes\n");
  }
  return text + chance;
}

struct StageChange {
  std::string name;
  int64_t before_bytes = 0;
  int64_t after_bytes = 0;

  int64_t change_bytes() const {
    return SaturatedDifference(after_bytes, before_bytes);
  }
};

// Peaks of the stages that both or one of the runs have, exact; those that
// changed, the most changed first.
std::vector<StageChange> StageChangesOf(const MeasuredImage& before,
                                        const MeasuredImage& after) {
  std::map<std::string, StageChange> changes;
  const auto note = [&changes](const MeasuredImage& image,
                               int64_t StageChange::*peak_bytes) {
    for (int i = 1; i < image.stages_size(); ++i) {
      StageChange& change = changes[StageName(image, static_cast<size_t>(i))];
      change.*peak_bytes =
          std::max(change.*peak_bytes, image.stages(i).peak_live_bytes());
    }
  };
  note(before, &StageChange::before_bytes);
  note(after, &StageChange::after_bytes);
  for (auto& [name, change] : changes) change.name = name;
  return SortedChanges(std::move(changes));
}

// Empty where no stage changed.
std::string StageTable(const MeasuredImage& before,
                       const MeasuredImage& after) {
  const std::vector<StageChange> changes = StageChangesOf(before, after);
  if (changes.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const StageChange& change : changes) {
    if (rows.size() == kMaxRows) break;
    rows.push_back({Signed(change.change_bytes()),
                    FormatRoundedBytes(change.before_bytes),
                    FormatRoundedBytes(change.after_bytes),
                    Shortened(change.name, kMaxFunctionBytes)});
  }
  std::string text = TableText(TextTable({{"peak", TextTable::kFigures},
                                          {"before", TextTable::kFigures},
                                          {"after", TextTable::kFigures},
                                          {"stage"}}),
                               rows);
  if (changes.size() > rows.size()) {
    absl::StrAppend(&text, "and ", changes.size() - rows.size(),
                    " stages with smaller changes\n");
  }
  return absl::StrCat(text, "\n");
}

std::string Command(const MeasuredRun& run) {
  return Shortened(absl::StrJoin(run.program(), " "), kMaxCommandBytes);
}

}  // namespace

std::string CompareText(const MeasuredRun& before, const MeasuredRun& after) {
  std::string text = absl::StrCat("before     ", Command(before),
                                  "\nafter      ", Command(after), "\n");
  const MeasuredImage* const first = LargestImage(before);
  const MeasuredImage* const second = LargestImage(after);
  if (first == nullptr || second == nullptr) {
    return absl::StrCat(text, "nothing was measured in ",
                        first == nullptr ? "the first" : "the second", "\n");
  }
  absl::StrAppend(
      &text, "\n",
      FigureTable(FiguresOf(before, *first), FiguresOf(after, *second)));
  const std::string stages = StageTable(*first, *second);
  if (!first->has_sites() || !second->has_sites()) {
    return stages.empty() ? text : absl::StrCat(text, "\n", stages);
  }
  return absl::StrCat(
      text, "\n", stages,
      PlaceTable(ChangesOf(SiteRows(before, *first), SiteRows(after, *second)),
                 before.sampling_interval_bytes() > 0 ||
                     after.sampling_interval_bytes() > 0));
}

}  // namespace footprint
