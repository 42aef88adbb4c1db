#include "footprint/profiling/memprof/machine_needs.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/resident/container_limit.h"

namespace footprint {
namespace {

// Separates the live bytes from the allocator's reserves. The live bytes are
// from a moment close by.
void AddHeapParts(int64_t live_bytes, ResidentParts* parts) {
  if (live_bytes == 0) return;
  parts->set_live_bytes(live_bytes);
  const int64_t kept_bytes = parts->heap_bytes() - live_bytes;
  parts->set_kept_bytes(std::max<int64_t>(kept_bytes, 0));
  parts->set_untouched_bytes(std::min<int64_t>(kept_bytes, 0));
}

// Returns the live bytes by the timeline and the peak, or nothing without them.
std::optional<int64_t> LiveBytesAt(const MeasuredProcess& process,
                                   int64_t time_ns) {
  if (!process.sites.has_value()) return std::nullopt;
  std::optional<int64_t> bytes;
  int64_t last_ns = 0;
  for (const SiteProfile::Point& point : process.sites->timeline) {
    if (point.time_ns > time_ns) break;
    bytes = point.live_bytes;
    last_ns = point.time_ns;
  }
  if (process.figures.peak_time_ns() <= time_ns &&
      process.figures.peak_time_ns() >= last_ns) {
    bytes = process.figures.peak_live_bytes();
  }
  return bytes;
}

// Returns whether pages and live bytes can be combined. The pages are from a
// sample and the live bytes from an allocation, so they explain each other only
// if little changed between. Nor does a sample far below the peak show what the
// peak consisted of.
bool AreOfOneMoment(const ResidentPeak& peak, const MeasuredProcess& process) {
  constexpr int64_t kGrain = 50;
  const int64_t missed_bytes =
      process.figures.peak_resident_bytes() - peak.parts.resident_bytes;
  if (missed_bytes > process.figures.peak_resident_bytes() / kGrain)
    return false;
  const std::optional<int64_t> live_bytes = LiveBytesAt(process, peak.time_ns);
  if (!live_bytes.has_value()) return true;
  return std::abs(*live_bytes - peak.live_bytes) <=
         std::max(*live_bytes, peak.live_bytes) / kGrain;
}

ResidentParts ToParts(const ResidentPeak& peak,
                      const std::vector<MeasuredProcess>& processes) {
  const ResidentSet& set = peak.parts;
  ResidentParts parts;
  parts.set_time_ns(peak.time_ns);
  parts.set_resident_bytes(set.resident_bytes);
  parts.set_anonymous_bytes(set.anonymous_bytes);
  parts.set_heap_bytes(set.heap_bytes);
  parts.set_mapped_bytes(set.mapped_bytes);
  parts.set_stack_bytes(set.stack_bytes);
  parts.set_image_bytes(set.image_bytes);
  parts.set_agent_bytes(set.agent_bytes);
  parts.set_file_bytes(set.file_bytes);
  parts.set_shared_bytes(set.shared_bytes);
  parts.set_other_bytes(set.other_bytes);
  parts.set_unexplained_bytes(set.unexplained_bytes);
  parts.set_minor_fault_count(set.minor_fault_count);
  parts.set_major_fault_count(set.major_fault_count);
  parts.set_swapped_bytes(set.swapped_bytes);
  parts.set_page_table_bytes(set.page_table_bytes);
  const bool is_one_moment =
      std::none_of(processes.begin(), processes.end(),
                   [&peak](const MeasuredProcess& process) {
                     return process.figures.process_id() == peak.process_id &&
                            process.figures.image() == peak.image &&
                            !AreOfOneMoment(peak, process);
                   });
  if (is_one_moment) AddHeapParts(peak.live_bytes, &parts);
  return parts;
}

// Returns the highest peak of a process, which the kernel knows to the page.
int64_t PeakResidentBytes(const AgentRunEnd& end) {
  int64_t bytes = 0;
  for (const MeasuredProcess& process : end.processes) {
    bytes = std::max(bytes, process.figures.peak_resident_bytes());
  }
  return bytes;
}

int64_t OwnPeakBytes(const MeasuredProcess& process) {
  return process.figures.peak_live_bytes() -
         process.figures.inherited_live_bytes();
}

// A process that was killed counts as alive to the end of the run, since its
// end is unknown.
HeapOverTime CollectHeap(const MeasuredProcess& process, int64_t run_end_ns) {
  HeapOverTime heap;
  heap.begin_ns = process.figures.begin_time_ns();
  heap.end_ns = process.figures.end_time_ns() != 0
                    ? process.figures.end_time_ns()
                    : run_end_ns;
  heap.most_bytes = process.figures.peak_resident_bytes() != 0
                        ? process.figures.peak_resident_bytes()
                        : OwnPeakBytes(process);
  if (process.sites.has_value()) {
    for (const SiteProfile::Point& point : process.sites->timeline) {
      heap.live_bytes_by_time_ns.push_back(
          {point.time_ns,
           point.live_bytes - process.figures.inherited_live_bytes()});
    }
  }
  const int64_t peak_time_ns = process.sites.has_value()
                                   ? process.figures.peak_time_ns()
                                   : heap.begin_ns;
  heap.live_bytes_by_time_ns.push_back({peak_time_ns, OwnPeakBytes(process)});
  std::stable_sort(
      heap.live_bytes_by_time_ns.begin(), heap.live_bytes_by_time_ns.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  return heap;
}

int64_t PeakHeapSum(const AgentRunEnd& end) {
  if (end.processes.empty()) return 0;
  const int64_t run_end_ns =
      end.processes.front().figures.begin_time_ns() + end.wall_time_ns;
  std::vector<HeapOverTime> heaps;
  for (const MeasuredProcess& process : end.processes) {
    heaps.push_back(CollectHeap(process, run_end_ns));
  }
  return PeakHeapSumBytes(heaps);
}

void AddGraphics(const AgentRunEnd& end, MeasuredRun* run) {
  run->set_graphics_note(EscapeForProto(end.graphics_note));
  for (const GraphicsUse& use : end.graphics_uses) {
    GraphicsMemory* const memory = run->add_graphics();
    memory->set_process_id(use.process_id);
    memory->set_device(use.device);
    memory->set_device_name(EscapeForProto(use.device_name));
    if (use.peak_bytes.has_value()) memory->set_peak_bytes(*use.peak_bytes);
    memory->set_busy_ns(use.busy_ns);
  }
}

// Returns why the limit that the run needs is unknown, or "".
std::string UnknownNeeds(const AgentRunEnd& end) {
  if (!end.unrecorded_programs.empty()) {
    return absl::StrCat(
        end.unrecorded_programs.size(),
        end.unrecorded_programs.size() == 1 ? " process" : " processes",
        " left no record, so their peaks between two samples are unknown");
  }
  if (end.left_out_process_count > 0) {
    return absl::StrCat(end.left_out_process_count,
                        end.left_out_process_count == 1
                            ? " child was not to be measured (--children=no)"
                            : " children were not to be measured "
                              "(--children=no)");
  }
  for (const MeasuredProcess& process : end.processes) {
    if (process.figures.lost_child_count() > 0) {
      return "children could not be measured";
    }
  }
  const bool is_alone = end.processes.size() == 1;
  if (!is_alone && end.shared_once.resident_sum_bytes > 0 &&
      !end.shared_once.is_of_one_moment) {
    return "processes began or ended while the pages that they share were "
           "counted";
  }
  return "";
}

void AddContainerNeeds(const AgentRunEnd& end, MeasuredRun* run) {
  ContainerNeeds* const needs = run->mutable_container_needs();
  needs->set_unknown(UnknownNeeds(end));
  if (!needs->unknown().empty()) return;
  const ContainerLimit limit = RecommendContainerLimit(
      end.shared_once, end.held_once, PeakResidentBytes(end), PeakHeapSum(end));
  needs->set_limit_bytes(limit.bytes);
  needs->set_resident_bytes(limit.resident_bytes);
  needs->set_kernel_bytes(limit.kernel_bytes);
  needs->set_margin_bytes(limit.margin_bytes);
  needs->set_memory_file_bytes(limit.memory_file_bytes);
  needs->set_mapped_file_bytes(limit.mapped_file_bytes);
}

}  // namespace

void AddMachineNeeds(const AgentRunEnd& end, MeasuredRun* run) {
  for (MeasuredImage& image : *run->mutable_images()) {
    for (const ResidentPeak& peak : end.resident_peaks) {
      if (peak.process_id == image.process_id() &&
          peak.image == image.image()) {
        *image.mutable_resident_at_peak() = ToParts(peak, end.processes);
      }
    }
  }
  // All processes need at least the kernel's mark of the largest one, which
  // cannot be missed.
  if (end.shared_once.resident_bytes() > 0) {
    run->set_peak_resident_once_bytes(
        std::max(end.shared_once.resident_bytes(), PeakResidentBytes(end)));
  }
  AddContainerNeeds(end, run);
  AddGraphics(end, run);
}

}  // namespace footprint
