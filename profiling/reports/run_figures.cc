#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/records/run_metric_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/reports/unaccounted_memory.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_owner.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr size_t kMostCommandBytes = 60;

struct OwnedBytes {
  int64_t bytes;
  const char* owner;
};

std::vector<OwnedBytes> ListOwners(const PeakShares& shares) {
  return {{shares.program_bytes, "the program's own data"},
          {shares.libraries_bytes, "libraries"},
          {shares.interpreter_bytes, "the interpreter"},
          {shares.unknown_bytes, "call unknown"}};
}

int64_t AddUp(const std::vector<OwnedBytes>& owners) {
  int64_t sum = 0;
  for (const OwnedBytes& each : owners) sum = SaturatedSum(sum, each.bytes);
  return sum;
}

// Returns text like "66.7 % the program's own data, 33.3 % libraries".
std::string OwnerText(const MeasuredRun& run, const MeasuredImage& image) {
  const PeakShares shares = ComputePeakShares(run, image);
  if (!shares.are_known) return "";
  const std::vector<OwnedBytes> owners = ListOwners(shares);
  const int64_t sum = AddUp(owners);
  std::string text;
  for (const OwnedBytes& each : owners) {
    if (each.bytes <= 0 || sum <= 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    WriteValue(ShareValue(each.bytes, sum)), " ", each.owner);
  }
  return text;
}

std::string StageAtPeak(const MeasuredImage& image) {
  for (const TimelinePoint& point : image.timeline()) {
    if (point.time_ns() != image.peak_time_ns()) continue;
    return point.stage() == 0
               ? ""
               : absl::StrCat(", in stage ", StageName(image, point.stage()));
  }
  return "";
}

// Returns the bytes of the peak that cannot all have been in memory at once,
// since the process never had that many resident. Returns 0 if they may have
// been.
int64_t UntouchedBytes(const MeasuredImage& image) {
  const int64_t resident_bytes = PeakResidentBytes(image);
  if (resident_bytes <= 0) return 0;
  return std::max<int64_t>(
      0, SaturatedDifference(image.peak_live_bytes(), resident_bytes));
}

ReportFigure Peak(const MeasuredRun& run, const MeasuredImage& image) {
  ReportFigure figure = {"peak heap", BytesValue(image.peak_live_bytes())};
  figure.compared = BytesValue(OwnPeakBytes(image));
  figure.detail = absl::StrCat(
      "after ",
      Seconds(std::max<int64_t>(0, image.peak_time_ns() - BeginTimeNs(run))),
      " of ", Seconds(run.wall_time_ns()), StageAtPeak(image));
  if (run.images_size() > 1) {
    figure.notes.push_back(
        absl::StrCat("in process ", image.process_id(), ": ",
                     ShortCommand(image, kMostCommandBytes)));
  }
  // All figures of a fork include its parent's blocks, except the figure by
  // which it is compared with other processes.
  if (image.inherited_live_bytes() != 0) {
    figure.notes.push_back(absl::StrCat(
        FormatRoundedBytes(OwnPeakBytes(image)),
        " of this is its own, on top of the ",
        FormatRoundedBytes(image.inherited_live_bytes()),
        " that it had from its parent by fork; shares are of the whole peak, "
        "and --limit judges its own part"));
  }
  if (UntouchedBytes(image) > 0) {
    figure.notes.push_back(
        absl::StrCat("at least ", FormatRoundedBytes(UntouchedBytes(image)),
                     " of it was allocated and never touched: the process "
                     "never had that many bytes resident"));
  }
  const std::string owners = OwnerText(run, image);
  if (!owners.empty()) figure.notes.push_back(owners);
  return figure;
}

// Returns where most of the peak is. It is the program's own line if there is
// one, since the program's author can change that.
ReportFigure Where(const MeasuredImage& image, const std::vector<SiteRow>& rows,
                   const std::vector<OwnLine>& own_lines) {
  ReportFigure figure = {"where"};
  figure.is_detail = true;
  if (!image.has_sites()) {
    figure.detail = "call sites were not recorded";
  } else if (!own_lines.empty() && own_lines[0].at_peak.bytes() > 0) {
    const OwnLine& line = own_lines[0];
    figure.value = ShareValue(line.at_peak.bytes(), image.peak_live_bytes());
    figure.detail = absl::StrCat(
        "which is ", FormatRoundedBytes(line.at_peak.bytes()),
        " of the peak, was asked for by ",
        ShortenText(line.frame.function(), kMostCommandBytes), " (",
        PlaceText(line.frame), ")",
        line.called.function().empty()
            ? ""
            : absl::StrCat(", mostly in ", ShortenText(line.called.function(),
                                                       kMostCommandBytes)));
  } else if (rows.empty() || rows[0].at_peak.bytes() <= 0) {
    figure.detail = "no call site had bytes at the peak";
  } else {
    const SiteRow& largest = rows[0];
    figure.value = ShareValue(largest.at_peak.bytes(), image.peak_live_bytes());
    figure.detail =
        absl::StrCat("which is ", FormatRoundedBytes(largest.at_peak.bytes()),
                     " of the peak, was allocated in ",
                     ShortenText(largest.frame.function(), kMostCommandBytes),
                     " (", PlaceText(largest.frame), ")");
  }
  return figure;
}

// Returns the resident bytes of all processes, in which shared pages count
// once.
ReportFigure Resident(const MeasuredRun& run) {
  ReportFigure figure = {"resident"};
  const int64_t bytes = ResidentTogetherBytes(run);
  if (bytes == 0) {
    figure.detail =
        "not measured: the program ended before it was looked at, or /proc "
        "could not be read";
    return figure;
  }
  figure.value = BytesValue(bytes);
  figure.detail = "at most";
  if (run.images_size() > 1 || run.unrecorded_process_count() > 0) {
    figure.detail =
        "at most at once, all processes together, shared pages once";
    if (run.peak_resident_sum_bytes() > bytes) {
      figure.notes.push_back(absl::StrCat(
          FormatRoundedBytes(run.peak_resident_sum_bytes()),
          " as the sum of what each has, shared pages once a process"));
    }
  }
  return figure;
}

ReportFigure Allocated(const MeasuredImage& image) {
  ReportFigure figure = {"allocated"};
  if (!image.has_totals()) {
    figure.is_detail = true;
    figure.detail = "the process's end was not seen, so its totals are unknown";
    return figure;
  }
  figure.value = BytesValue(image.allocated_bytes());
  figure.detail =
      absl::StrCat("in ", FormatCount(image.allocation_count()),
                   " calls; left at exit ", FormatBytes(image.live_bytes()));
  return figure;
}

// Returns the bytes that the allocator keeps beyond what the program uses.
ReportFigure Allocator(const MeasuredImage& image) {
  ReportFigure figure = {"allocator"};
  figure.is_detail = true;
  figure.detail = absl::StrCat(
      "kept by ",
      image.allocator().empty() ? "the allocator" : image.allocator(),
      " beyond the live bytes when most was resident: free blocks and "
      "bookkeeping");
  const ResidentParts& parts = image.resident_at_peak();
  // The live bytes may be from another moment than the pages.
  if (parts.live_bytes() == 0) return figure;
  figure.value = BytesValue(parts.kept_bytes());
  return figure;
}

ReportFigure Container(const ContainerNeeds& needs) {
  ReportFigure figure = {"container"};
  if (!needs.unknown().empty()) {
    figure.detail = absl::StrCat("no limit is recommended: ",
                                 ShortenText(needs.unknown(), 400));
  } else if (needs.limit_bytes() == 0) {
    figure.detail =
        "no limit is recommended: no resident set was seen, since the program "
        "ended within 10 ms or /proc could not be read";
  } else {
    figure.value = BytesValue(needs.limit_bytes());
    figure.detail = absl::StrCat(
        "a limit that has room for this run: ",
        FormatRoundedBytes(needs.resident_bytes()),
        needs.mapped_file_bytes() == 0
            ? " resident, shared pages once and without memprof, "
            : " resident, shared pages once and without memprof and mapped "
              "files, ",
        needs.memory_file_bytes() == 0
            ? ""
            : absl::StrCat(FormatRoundedBytes(needs.memory_file_bytes()),
                           " of files in memory (tmpfs), "),
        FormatRoundedBytes(needs.kernel_bytes()),
        " of page tables and kernel stacks, and ",
        FormatRoundedBytes(needs.margin_bytes()),
        " for what differs between runs");
    if (needs.mapped_file_bytes() > 0) {
      figure.notes.push_back(absl::StrCat(
          FormatRoundedBytes(needs.mapped_file_bytes()),
          " more keep the mapped files in memory; within the limit alone the "
          "kernel drops their pages and reads them again, which takes time"));
    }
  }
  return figure;
}

ReportFigure ContainerAndTrial(const ContainerNeeds& needs) {
  ReportFigure figure = Container(needs);
  // If a limit did not hold, a warning says so.
  if (needs.held()) {
    figure.notes.push_back(ShortenText(needs.tried(), 400));
  }
  return figure;
}

// Returns the places that mapped most, as notes.
ReportFigure Mapped(const MeasuredRun& run, const MeasuredImage& image) {
  constexpr size_t kMostPlaces = 3;
  ReportFigure figure = {"mapped", BytesValue(image.peak_mapped_bytes()),
                         "addresses that the program mapped itself"};
  figure.is_detail = image.peak_mapped_bytes() == 0;
  if (image.mappings().empty()) return figure;
  const CodePlaces places(run);
  std::map<uint32_t, int64_t> bytes_of_place;
  for (const MappingAmounts& mapping : image.mappings()) {
    int64_t& bytes = bytes_of_place[places.OfCall(mapping.call())];
    bytes = SaturatedSum(bytes, mapping.at_peak_bytes());
  }
  std::vector<std::pair<int64_t, uint32_t>> largest;
  for (const auto& [place, bytes] : bytes_of_place) {
    largest.emplace_back(-bytes, place);
  }
  std::sort(largest.begin(), largest.end());
  for (size_t i = 0; i < std::min(kMostPlaces, largest.size()); ++i) {
    const CodeFrame& frame = places.FindShownFrame(largest[i].second);
    const std::string place = PlaceText(frame);
    figure.notes.push_back(
        absl::StrCat(FormatRoundedBytes(-largest[i].first), " were mapped by ",
                     ShortenText(frame.function(), kMostCommandBytes),
                     place.empty() ? "" : absl::StrCat(" (", place, ")")));
  }
  return figure;
}

// Adds nothing without a name.
void AddDetail(const char* name, ReportUnit unit, int64_t number,
               const char* detail, std::vector<ReportFigure>* figures) {
  if (name == nullptr) return;
  figures->push_back({name, {unit, number}, detail});
  figures->back().is_detail = true;
}

}  // namespace

void AddRunFigures(const MeasuredRun& run, const MeasuredImage& image,
                   const std::vector<SiteRow>& rows,
                   const std::vector<OwnLine>& own_lines, Report* report) {
  std::vector<ReportFigure>& figures = report->figures;
  // Memory that was never touched costs nothing, so the resident figure comes
  // first.
  const bool is_resident_first = UntouchedBytes(image) > 0;
  if (is_resident_first) figures.push_back(Resident(run));
  figures.push_back(Peak(run, image));
  figures.push_back(Where(image, rows, own_lines));
  if (!is_resident_first) figures.push_back(Resident(run));
  figures.push_back(Mapped(run, image));
  figures.push_back(Allocated(image));
  if (image.has_totals()) {
#define FOOTPRINT_ADD(field, value, unit, name, detail) \
  AddDetail(name, ReportUnit::unit, image.field(), detail, &figures);
    FOOTPRINT_PROCESS_METRICS(FOOTPRINT_ADD)
#undef FOOTPRINT_ADD
  }
  figures.push_back(Allocator(image));
  if (run.has_container_needs()) {
    figures.push_back(ContainerAndTrial(run.container_needs()));
  }
  AddDetail("time", ReportUnit::kNanoseconds, run.wall_time_ns(), "", &figures);
}

void AddPeakOwners(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report) {
  if (!image.has_sites()) return;
  const PeakShares shares = ComputePeakShares(run, image);
  if (!shares.are_known) {
    report->remarks.push_back(
        "how much of the peak is the program's own data is not measured: calls "
        "of the interpreted program were not recorded");
    return;
  }
  const std::vector<OwnedBytes> owners = ListOwners(shares);
  const int64_t sum = AddUp(owners);
  if (sum <= 0) return;
  ReportTable table;
  table.heading = "Whose data the peak is";
  table.lead =
      "The program's data is what its own code asked for, itself or through a "
      "library. A library's was allocated while it was loaded, or without the "
      "program's code.";
  table.is_detail = true;
  table.is_breakdown = true;
  table.columns = {{"at the peak", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"owner"}};
  for (const OwnedBytes& each : owners) {
    if (each.bytes == 0) continue;
    table.rows.push_back({{BytesValue(each.bytes), ShareValue(each.bytes, sum),
                           TextValue(each.owner)}});
  }
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
