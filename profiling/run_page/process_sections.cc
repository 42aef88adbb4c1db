#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr size_t kMostCommandBytes = 80;

const char* EndText(MeasuredImage::End end) {
  switch (end) {
    case MeasuredImage::EXITED:
      return "exit";
    case MeasuredImage::EXITED_AT_ONCE:
      return "_exit";
    case MeasuredImage::KILLED:
      return "killed";
    case MeasuredImage::BECAME_ANOTHER:
      return "exec";
    case MeasuredImage::RUNS_ON:
      return "runs on";
    default:
      return "not known";
  }
}

std::vector<std::string> ProcessRow(const MeasuredRun& run,
                                    const MeasuredImage& image) {
  return {
      ShortCommand(image, kMostCommandBytes),
      EndText(image.end()),
      FormatRoundedBytes(OwnPeakBytes(image)),
      image.peak_resident_bytes() == 0
          ? "-"
          : FormatRoundedBytes(image.peak_resident_bytes()),
      image.has_totals() ? FormatRoundedBytes(image.allocated_bytes()) : "-",
      Seconds(image.begin_time_ns() - BeginTimeNs(run)),
      absl::StrCat(image.process_id()),
      absl::StrCat(image.parent_process_id())};
}

struct Part {
  const char* name;
  int64_t bytes;
};

std::vector<Part> PartsOf(const ResidentParts& parts) {
  return {{"live heap", parts.live_bytes()},
          {"thread caches", parts.thread_cache_bytes()},
          {"fragmentation", parts.fragmentation_bytes()},
          {"the allocator's books", parts.allocator_metadata_bytes()},
          {"freed, not given back", parts.dirty_bytes()},
          {"handed out, never touched", parts.untouched_bytes()},
          {"mapped by the program", parts.mapped_bytes()},
          {"stacks", parts.stack_bytes()},
          {"code and static data", parts.image_bytes()},
          {"the agent", parts.agent_bytes()},
          {"files", parts.file_bytes()},
          {"shared", parts.shared_bytes()},
          {"others", parts.other_bytes()},
          {"not explained", parts.unexplained_bytes()}};
}

// The largest parts as a bar; the table has them all.
StackedBars PartsBar(const std::vector<Part>& parts) {
  constexpr size_t kMostSeries = 7;
  std::vector<Part> largest;
  for (const Part& part : parts) {
    if (part.bytes > 0) largest.push_back(part);
  }
  std::stable_sort(
      largest.begin(), largest.end(),
      [](const Part& a, const Part& b) { return a.bytes > b.bytes; });
  StackedBars chart;
  chart.title = "Resident parts";
  chart.description =
      "Bytes that were handed out and never touched are not resident: the "
      "table "
      "takes them off.";
  chart.bars = {{"resident", {}}};
  double others = 0;
  for (size_t i = 0; i < largest.size(); ++i) {
    const auto bytes = static_cast<double>(largest[i].bytes);
    if (i < kMostSeries) {
      chart.series.push_back(largest[i].name);
      chart.bars[0].values.push_back(bytes);
    } else {
      others += bytes;
    }
  }
  if (others > 0) {
    chart.series.push_back("smaller parts");
    chart.bars[0].values.push_back(others);
  }
  return chart;
}

// Sections that a reader would expect, of which the run knows nothing.
std::vector<std::string> NotMeasured(const MeasuredImage& image) {
  std::vector<std::string> names;
  if (!image.has_sites()) names.push_back("call sites");
  if (image.timeline_size() == 0) names.push_back("live bytes over time");
  if (image.stages_size() < 2) names.push_back("stages (no stage was begun)");
  if (image.copies_size() == 0) names.push_back("copies");
  if (image.processor_time_size() == 0) names.push_back("processor time");
  if (image.suspected_leaks_size() == 0) {
    names.push_back("suspected leaks (none was found)");
  }
  if (!image.has_resident_at_peak()) names.push_back("resident parts");
  return names;
}

// Which of the ledgers holds the interpreter's small objects.
std::string PythonObjectsText(const MeasuredImage& image) {
  switch (image.python_objects()) {
    case MeasuredImage::COUNTED:
      return "Python's own small objects count one by one, as malloc's blocks.";
    case MeasuredImage::IN_ARENAS:
      return "Python's own small objects are not among the live bytes: the "
             "arenas that hold them count as mapped.";
    default:
      return "";
  }
}

std::string HowSampled(const MeasuredRun& run) {
  if (run.sampling_interval_bytes() < 0) {
    return "Call sites were not recorded (--sampling=none).";
  }
  if (run.sampling_interval_bytes() == 0) {
    return "Each allocation was recorded, so figures by call site are exact.";
  }
  return absl::StrCat("Call sites are estimates from a sample every ",
                      FormatRoundedBytes(run.sampling_interval_bytes()),
                      ": 95 of 100 true values lie within two sigma (\u00b1). "
                      "--sampling=0 records each allocation.");
}

}  // namespace

void AddProcesses(const MeasuredRun& run, const PageLimits& limits,
                  PageContent* page) {
  if (run.images_size() < 2) return;
  std::vector<const MeasuredImage*> images;
  for (const MeasuredImage& image : run.images()) images.push_back(&image);
  std::stable_sort(images.begin(), images.end(),
                   [](const MeasuredImage* a, const MeasuredImage* b) {
                     return OwnPeakBytes(*a) > OwnPeakBytes(*b);
                   });
  PageTable table;
  table.caption =
      "Each has its peak at its own time; of a fork, the peak is what lies "
      "above its parent's bytes.";
  table.header = {"command",   "end",   "peak heap", "resident",
                  "allocated", "began", "process",   "parent"};
  table.text_columns = 2;
  table.wraps_text = true;
  int64_t others_bytes = 0;
  for (const MeasuredImage* image : images) {
    if (table.rows.size() < limits.table_rows) {
      table.rows.push_back(ProcessRow(run, *image));
    } else {
      others_bytes += OwnPeakBytes(*image);
    }
  }
  page->AddHeading("Processes");
  page->AddTable(table);
  if (images.size() > table.rows.size()) {
    page->AddParagraph(absl::StrCat(
        "And ",
        FormatCount(static_cast<int64_t>(images.size() - table.rows.size())),
        " with smaller peaks, ", FormatBytes(others_bytes), " in all."));
  }
}

void AddThreads(const MeasuredImage& image, const PageLimits& limits,
                PageContent* page) {
  constexpr int kLeastThreads = 3;  // the first is not used
  if (image.threads_size() < kLeastThreads) return;
  std::vector<const MeasuredThread*> threads;
  for (const MeasuredThread& thread : image.threads()) {
    if (thread.allocated_bytes() > 0 || thread.at_peak_bytes() > 0) {
      threads.push_back(&thread);
    }
  }
  std::stable_sort(threads.begin(), threads.end(),
                   [](const MeasuredThread* a, const MeasuredThread* b) {
                     return a->at_peak_bytes() > b->at_peak_bytes();
                   });
  PageTable table;
  table.caption = "By the thread that allocated.";
  table.header = {"thread", "live at the peak", "allocated"};
  int64_t others_bytes = 0;
  for (const MeasuredThread* thread : threads) {
    if (table.rows.size() >= limits.table_rows) {
      others_bytes += thread->at_peak_bytes();
      continue;
    }
    table.rows.push_back(
        {thread->number() == 0
             ? "not known"
             : absl::StrCat(thread->number(), thread->name().empty() ? "" : " ",
                            Shortened(thread->name(), kMostCommandBytes)),
         FormatRoundedBytes(thread->at_peak_bytes()),
         FormatRoundedBytes(thread->allocated_bytes())});
  }
  page->AddHeading("Threads");
  page->AddTable(table);
  if (threads.size() > table.rows.size()) {
    page->AddParagraph(absl::StrCat(
        "And ",
        FormatCount(static_cast<int64_t>(threads.size() - table.rows.size())),
        " threads with ", FormatBytes(others_bytes), " at the peak."));
  }
}

void AddResidentParts(const MeasuredImage& image, PageContent* page) {
  if (!image.has_resident_at_peak()) return;
  const ResidentParts& resident = image.resident_at_peak();
  const std::vector<Part> parts = PartsOf(resident);
  page->AddHeading("Resident memory");
  page->AddStackedBars(PartsBar(parts));
  PageTable table;
  table.caption = "Parts of the resident set when most was resident.";
  table.header = {"part", "bytes", "share"};
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    table.rows.push_back({part.name, FormatRoundedBytes(part.bytes),
                          Share(part.bytes, resident.resident_bytes())});
  }
  table.rows.push_back(
      {"resident", FormatRoundedBytes(resident.resident_bytes()), "100.0 %"});
  page->AddTable(table);
  page->AddParagraph(
      absl::StrCat("Page faults: ", FormatCount(resident.minor_fault_count()),
                   " without, ", FormatCount(resident.major_fault_count()),
                   " with reading from a disk; swapped out: ",
                   FormatRoundedBytes(resident.swapped_bytes()), "."));
}

void AddGraphics(const MeasuredRun& run, PageContent* page) {
  if (run.graphics_size() == 0) return;
  PageTable table;
  table.caption = "Memory and time of graphics devices, by process.";
  table.header = {"device", "peak", "busy", "process"};
  table.wraps_text = true;
  for (const GraphicsMemory& each : run.graphics()) {
    table.rows.push_back(
        {absl::StrCat(each.device(), " ",
                      Shortened(each.device_name(), kMostCommandBytes)),
         each.has_peak_bytes() ? FormatRoundedBytes(each.peak_bytes())
                               : "not known",
         each.process_id() == 0 ? "" : Seconds(each.busy_ns()),
         each.process_id() == 0 ? "all, beyond what was in use before the run"
                                : absl::StrCat(each.process_id())});
  }
  page->AddHeading("Graphics memory");
  page->AddTable(table);
}

void AddMeasuring(const MeasuredRun& run, const MeasuredImage& image,
                  PageContent* page) {
  page->AddHeading("How it was measured");
  page->AddParagraph(HowSampled(run));
  const std::string objects = PythonObjectsText(image);
  if (!objects.empty()) page->AddParagraph(objects);
  if (!run.graphics_note().empty()) {
    page->AddParagraph(
        absl::StrCat("Graphics memory: ", Shortened(run.graphics_note(), 300)));
  }
  const std::vector<std::string> absent = NotMeasured(image);
  if (!absent.empty()) {
    page->AddParagraph(
        absl::StrCat("Not measured: ", absl::StrJoin(absent, ", "), "."));
  }
  PageTable table;
  table.caption = "The run";
  table.header = {"", ""};
  table.text_columns = 2;
  table.wraps_text = true;
  const auto add = [&table](const char* name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({name, value});
  };
  add("command", Shortened(absl::StrJoin(run.program(), " "), 400));
  add("began",
      run.begin_unix_time_ns() == 0
          ? ""
          : absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                             absl::FromUnixNanos(run.begin_unix_time_ns()),
                             absl::UTCTimeZone()));
  add("processor time", absl::StrCat(Seconds(run.user_time_ns()), " user, ",
                                     Seconds(run.system_time_ns()), " system"));
  add("interpreter", Shortened(image.interpreter(), kMostCommandBytes));
  if (run.has_machine()) {
    const MeasuredMachine& machine = run.machine();
    add("processor",
        absl::StrCat(Shortened(machine.cpu_model(), kMostCommandBytes), ", ",
                     machine.processor_count(), " of them"));
    add("memory", FormatRoundedBytes(machine.memory_bytes()));
    add("kernel", Shortened(machine.kernel(), kMostCommandBytes));
    add("allocator", Shortened(machine.allocator(), kMostCommandBytes));
  }
  page->AddTable(table);
}

}  // namespace footprint
