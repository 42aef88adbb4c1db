#include <algorithm>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/runs/code_owner.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr size_t kMostCommandBytes = 60;
constexpr char kNotMeasured[] = "not measured";

std::string Exactly(int64_t bytes) {
  return absl::StrCat(FormatCount(bytes), " B");
}

// At the peak of the process.
std::string StageAtPeak(const MeasuredImage& image) {
  for (const TimelinePoint& point : image.timeline()) {
    if (point.time_ns() != image.peak_time_ns()) continue;
    return point.stage() == 0
               ? ""
               : absl::StrCat(", in stage ", StageName(image, point.stage()));
  }
  return "";
}

PageFigure Peak(const MeasuredRun& run, const MeasuredImage& image) {
  std::string meaning = absl::StrCat(
      Exactly(image.peak_live_bytes()),
      " were live at once: what the program's own calls of malloc held. Exact");
  if (image.inherited_live_bytes() != 0) {
    absl::StrAppend(&meaning, "; ", FormatRoundedBytes(OwnPeakBytes(image)),
                    " of it its own, beyond what it had from its parent by "
                    "fork; shares are of all of it");
  }
  if (run.images_size() > 1) {
    absl::StrAppend(&meaning, "; of process ", image.process_id(), ", ",
                    ShortCommand(image, kMostCommandBytes));
  }
  return {"Peak heap", FormatRoundedBytes(image.peak_live_bytes()),
          meaning + "."};
}

PageFigure When(const MeasuredRun& run, const MeasuredImage& image) {
  const int64_t time_ns =
      std::max<int64_t>(0, image.peak_time_ns() - BeginTimeNs(run));
  return {"When", Seconds(time_ns),
          absl::StrCat("after the begin, of ", Seconds(run.wall_time_ns()),
                       " in all", StageAtPeak(image), ".")};
}

PageFigure Where(const MeasuredImage& image, const PlaceRows& places) {
  if (!image.has_sites()) {
    return {"Where", kNotMeasured, "Call sites were not recorded."};
  }
  const auto largest =
      std::max_element(places.begin(), places.end(),
                       [](const PlaceFigures& a, const PlaceFigures& b) {
                         return a.at_peak.bytes < b.at_peak.bytes;
                       });
  if (largest == places.end() || largest->at_peak.bytes <= 0) {
    return {"Where", "nowhere", "No call site had bytes at the peak."};
  }
  int64_t sum = 0;
  for (const PlaceFigures& each : places) sum += each.at_peak.bytes;
  return {"Where", Share(largest->at_peak.bytes, sum),
          absl::StrCat("of it, ", AmountText(largest->at_peak),
                       ", was allocated in ", PlaceName(largest->frame), ".")};
}

PageFigure Kept(const MeasuredImage& image) {
  constexpr char kName[] = "The allocator keeps";
  // Its books may be of another moment than the pages.
  if (image.resident_at_peak().live_bytes() == 0) {
    return {kName, kNotMeasured,
            "Beyond the live bytes: thread caches, fragmentation, its own "
            "books, and freed pages that were not given back."};
  }
  const ResidentParts& parts = image.resident_at_peak();
  const int64_t kept = parts.thread_cache_bytes() +
                       parts.fragmentation_bytes() +
                       parts.allocator_metadata_bytes() + parts.dirty_bytes();
  return {kName, FormatRoundedBytes(kept),
          absl::StrCat(Exactly(kept),
                       " beyond the live bytes when most was resident: thread "
                       "caches, fragmentation, its own books, and freed pages "
                       "that were not given back.")};
}

PageFigure Machine(const MeasuredRun& run) {
  constexpr char kName[] = "The machine must have";
  const int64_t bytes = ResidentTogetherBytes(run);
  if (bytes == 0) {
    return {kName, kNotMeasured,
            "Bytes that were resident at once: heap, code, stacks and files."};
  }
  return {kName, FormatRoundedBytes(bytes),
          absl::StrCat(Exactly(bytes), " were resident at once",
                       run.images_size() > 1
                           ? ", all processes together, shared pages once"
                           : "",
                       ": heap, code, stacks and files. Varies from run to "
                       "run.")};
}

// Of the container that the run fits into.
PageFigure Container(const ContainerNeeds& needs) {
  constexpr char kName[] = "Recommended container limit";
  if (!needs.unknown().empty()) {
    return {kName, kNotMeasured,
            absl::StrCat("None is recommended: ", needs.unknown(), ".")};
  }
  if (needs.limit_bytes() == 0) {
    return {kName, kNotMeasured,
            "No resident set was seen: the program ended within 10 ms, or "
            "/proc could not be read."};
  }
  return {kName, FormatRoundedBytes(needs.limit_bytes()),
          absl::StrCat(FormatRoundedBytes(needs.resident_bytes()),
                       " resident, shared pages once, ",
                       FormatRoundedBytes(needs.kernel_bytes()),
                       " of the kernel's own, and a margin of ",
                       FormatRoundedBytes(needs.margin_bytes()), ".")};
}

PageFigure Volume(const MeasuredImage& image) {
  if (!image.has_totals()) {
    return {"Allocated in all", kNotMeasured,
            "The process's end was not seen, so its totals are unknown."};
  }
  return {"Allocated in all", FormatRoundedBytes(image.allocated_bytes()),
          absl::StrCat(Exactly(image.allocated_bytes()), " in ",
                       FormatCount(image.allocation_count()),
                       " calls: volume, not footprint. Left at exit: ",
                       FormatRoundedBytes(image.live_bytes()), ".")};
}

}  // namespace

void AddHeadline(const MeasuredRun& run, const MeasuredImage& image,
                 const PlaceRows& places, PageContent* page) {
  std::vector<PageFigure> figures = {Peak(run, image),     When(run, image),
                                     Where(image, places), Kept(image),
                                     Machine(run),         Volume(image)};
  if (image.peak_mapped_bytes() > 0) {
    figures.push_back(
        {"Mapped", FormatRoundedBytes(image.peak_mapped_bytes()),
         "of addresses, by the program itself (mmap), are not in the peak."});
  }
  if (run.has_container_needs()) {
    figures.push_back(Container(run.container_needs()));
  }
  page->AddFigures(figures);
}

void AddShares(const MeasuredRun& run, const MeasuredImage& image,
               PageContent* page) {
  if (!image.has_sites()) return;
  const PeakShares shares = PeakSharesOf(run, image);
  if (!shares.are_known) {
    page->AddParagraph(
        "How much of the peak is the program's own data is not measured: calls "
        "of the interpreted program were not recorded.");
    return;
  }
  StackedBars chart;
  chart.title = "Whose data the peak is";
  chart.description =
      "The program's: its own code asked for it, itself or through a library. "
      "A library's: allocated while it was loaded, or without the program's "
      "code.";
  chart.series = {"the program", "libraries", "the interpreter", "not known"};
  chart.bars = {{"at the peak",
                 {static_cast<double>(shares.program_bytes),
                  static_cast<double>(shares.libraries_bytes),
                  static_cast<double>(shares.interpreter_bytes),
                  static_cast<double>(shares.unknown_bytes)}}};
  page->AddStackedBars(chart);
}

}  // namespace footprint
