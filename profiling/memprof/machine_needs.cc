#include "footprint/profiling/memprof/machine_needs.h"

#include <algorithm>

#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/heap/published_allocator.h"
#include "footprint/profiling/resident/container_limit.h"

namespace footprint {
namespace {

using profiling_internal::AllocatorBooks;

// jemalloc's share of the heap's pages, by its books of a moment near by.
void AddAllocatorParts(const AllocatorBooks& books, ResidentParts* parts) {
  if (books.time_ns == 0) return;
  parts->set_live_bytes(books.live_bytes);
  parts->set_thread_cache_bytes(books.thread_cache_bytes);
  parts->set_fragmentation_bytes(books.active_bytes - books.allocated_bytes);
  parts->set_allocator_metadata_bytes(books.metadata_bytes);
  parts->set_dirty_bytes(books.dirty_bytes);
  parts->set_untouched_bytes(
      parts->heap_bytes() - books.live_bytes - books.thread_cache_bytes -
      parts->fragmentation_bytes() - books.metadata_bytes - books.dirty_bytes);
}

ResidentParts ToParts(const ResidentPeak& peak) {
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
  AddAllocatorParts(peak.books, &parts);
  return parts;
}

// Where there was one process, the kernel knows its peak to the page; of the
// sum of several, the looks know the most that they saw.
int64_t PeakResidentBytes(const AgentRunEnd& end) {
  int64_t bytes = end.peak_resident_sum_bytes;
  for (const MeasuredProcess& process : end.processes) {
    bytes = std::max(bytes, process.peak_resident_bytes);
  }
  return bytes;
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

}  // namespace

void AddMachineNeeds(const AgentRunEnd& end, MeasuredRun* run) {
  for (MeasuredImage& image : *run->mutable_images()) {
    for (const ResidentPeak& peak : end.resident_peaks) {
      if (peak.process_id == image.process_id() &&
          peak.image == image.image()) {
        *image.mutable_resident_at_peak() = ToParts(peak);
      }
    }
  }
  const ContainerLimit limit =
      RecommendContainerLimit(end.shared_once, PeakResidentBytes(end));
  ContainerNeeds* const needs = run->mutable_container_needs();
  needs->set_limit_bytes(limit.bytes);
  needs->set_resident_bytes(limit.resident_bytes);
  needs->set_kernel_bytes(limit.kernel_bytes);
  needs->set_margin_bytes(limit.margin_bytes);
  AddGraphics(end, run);
}

}  // namespace footprint
