#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

// "  318 MiB  live", or nothing of what is not there.
void AddPart(int64_t bytes, const std::string& meaning, std::string* text) {
  if (bytes == 0) return;
  std::string figure = FormatRoundedBytes(bytes);
  figure.insert(0, figure.size() < 10 ? 10 - figure.size() : 0, ' ');
  absl::StrAppend(text, figure, "  ", meaning, "\n");
}

std::string AllocatorText(const ResidentParts& parts) {
  if (parts.live_bytes() == 0) return "the heap";
  std::string text =
      absl::StrCat("the heap: ", FormatRoundedBytes(parts.live_bytes()),
                   " live in the program");
  for (const auto& [bytes, meaning] :
       {std::pair(parts.thread_cache_bytes(), " kept for threads"),
        std::pair(parts.fragmentation_bytes(), " beside live blocks"),
        std::pair(parts.allocator_metadata_bytes(), " of bookkeeping"),
        std::pair(parts.dirty_bytes(), " freed and not given back yet"),
        std::pair(parts.untouched_bytes(), " never touched")}) {
    if (bytes == 0) continue;
    absl::StrAppend(&text, bytes < 0 ? ", less " : ", ",
                    FormatRoundedBytes(bytes < 0 ? -bytes : bytes), meaning);
  }
  return text;
}

std::string ResidentText(const MeasuredRun& run, const MeasuredImage& image) {
  const ResidentParts& parts = image.resident_at_peak();
  const int64_t missed_bytes =
      SaturatedDifference(image.peak_resident_bytes(), parts.resident_bytes());
  std::string text =
      absl::StrCat("resident set of process ", image.process_id(),
                   missed_bytes > image.peak_resident_bytes() / 50
                       ? absl::StrCat(", ", FormatRoundedBytes(missed_bytes),
                                      " below its peak, after ")
                       : " near its peak, after ",
                   Seconds(parts.time_ns() - BeginTimeNs(run)), ":\n");
  AddPart(parts.heap_bytes(), AllocatorText(parts), &text);
  AddPart(parts.mapped_bytes(), "mapped by the program itself", &text);
  AddPart(parts.stack_bytes(), "stacks", &text);
  AddPart(parts.image_bytes(), "program and libraries, as files have them",
          &text);
  AddPart(parts.file_bytes(), "other files that are mapped", &text);
  AddPart(parts.shared_bytes(), "shared with other processes", &text);
  AddPart(parts.agent_bytes(), "memprof's agent", &text);
  AddPart(parts.other_bytes(), "other", &text);
  AddPart(parts.unexplained_bytes(), "came or went while it was looked at",
          &text);
  AddPart(parts.swapped_bytes(), "swapped out besides", &text);
  absl::StrAppend(&text, "page faults ", FormatCount(parts.minor_fault_count()),
                  " without a read, ", FormatCount(parts.major_fault_count()),
                  " with one\n");
  return text;
}

std::string GraphicsText(const MeasuredRun& run) {
  std::string text;
  for (const GraphicsMemory& use : run.graphics()) {
    const std::string device =
        absl::StrCat(" on device ", use.device(), " (", use.device_name(), ")");
    if (use.process_id() == 0) {
      absl::StrAppend(&text, "graphics   ", FormatBytes(use.peak_bytes()),
                      " more", device,
                      " than before the run, of all processes\n");
      continue;
    }
    absl::StrAppend(
        &text, "graphics   ",
        use.has_peak_bytes() ? FormatBytes(use.peak_bytes()) : "unknown bytes",
        device, " in process ", use.process_id(), ", busy ",
        Seconds(use.busy_ns()), "\n");
  }
  if (!text.empty() && !run.graphics_note().empty()) {
    absl::StrAppend(&text, "           ", run.graphics_note(), "\n");
  }
  return text;
}

std::string LimitText(const ContainerNeeds& needs) {
  if (!needs.unknown().empty()) {
    return absl::StrCat("container  no limit is recommended: ",
                        EscapeForTerminal(needs.unknown()), "\n");
  }
  if (needs.limit_bytes() == 0) {
    return "container  no limit is recommended: no resident set was seen, "
           "since "
           "the program ended within 10 ms or /proc could not be read\n";
  }
  return absl::StrCat(
      "container  a limit of ", FormatRoundedBytes(needs.limit_bytes()),
      " has room for this run: ", FormatRoundedBytes(needs.resident_bytes()),
      " resident, shared pages once and without memprof, ",
      needs.memory_file_bytes() == 0
          ? ""
          : absl::StrCat(FormatRoundedBytes(needs.memory_file_bytes()),
                         " of files in memory (tmpfs), "),
      FormatRoundedBytes(needs.kernel_bytes()),
      " of page tables and kernel stacks, and a twentieth for "
      "what differs between runs\n");
}

}  // namespace

std::string MachineText(const MeasuredRun& run, const MeasuredImage& image) {
  std::string text;
  if (image.has_resident_at_peak()) {
    absl::StrAppend(&text, ResidentText(run, image));
  }
  absl::StrAppend(&text, GraphicsText(run));
  if (run.has_container_needs()) {
    absl::StrAppend(&text, LimitText(run.container_needs()));
  }
  return text;
}

}  // namespace footprint
