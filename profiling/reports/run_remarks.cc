#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"

namespace footprint {
namespace {

// Returns tables that a reader would expect and for which the run has no data.
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

// Returns how the interpreter's small objects are counted.
std::string PythonObjectsText(const MeasuredImage& image) {
  switch (image.python_objects()) {
    case MeasuredImage::COUNTED:
      return "Python's own small objects count one by one, as malloc's blocks";
    case MeasuredImage::IN_ARENAS:
      return "Python's own small objects are not among the live bytes: the "
             "arenas that hold them count as mapped";
    default:
      return "";
  }
}

std::string HowSampled(const MeasuredRun& run) {
  if (run.sampling_interval_bytes() < 0) {
    return "call sites were not recorded (--sampling=none)";
  }
  if (run.sampling_interval_bytes() == 0) {
    return "each allocation was recorded, so figures by call site are exact";
  }
  return absl::StrCat("call sites are estimates from a sample every ",
                      FormatRoundedBytes(run.sampling_interval_bytes()),
                      ": 95 of 100 true values lie within two sigma. "
                      "--sampling=0 records each allocation");
}

void AddFact(const char* name, const std::string& value, Report* report) {
  if (!value.empty()) report->facts.push_back({name, TextValue(value)});
}

}  // namespace

void AddRunRemarks(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report) {
  std::vector<std::string>& remarks = report->remarks;
  remarks.push_back(HowSampled(run));
  const std::string objects = PythonObjectsText(image);
  if (!objects.empty()) remarks.push_back(objects);
  if (!run.graphics_note().empty() && run.graphics().empty()) {
    remarks.push_back(absl::StrCat("graphics memory: ",
                                   ShortenText(run.graphics_note(), 300)));
  }
  const std::vector<std::string> absent = NotMeasured(image);
  if (!absent.empty()) {
    remarks.push_back(
        absl::StrCat("not measured: ", absl::StrJoin(absent, ", ")));
  }
  AddFact("command", absl::StrJoin(run.program(), " "), report);
  AddFact("began",
          run.begin_unix_time_ns() == 0
              ? ""
              : absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                 absl::FromUnixNanos(run.begin_unix_time_ns()),
                                 absl::UTCTimeZone()),
          report);
  AddFact("processor time",
          absl::StrCat(Seconds(run.user_time_ns()), " user, ",
                       Seconds(run.system_time_ns()), " system"),
          report);
  AddFact("interpreter", image.interpreter(), report);
  if (!run.has_machine()) return;
  const MeasuredMachine& machine = run.machine();
  AddFact("processor",
          absl::StrCat(machine.cpu_model(), ", ", machine.processor_count(),
                       " of them"),
          report);
  AddFact("memory", FormatRoundedBytes(machine.memory_bytes()), report);
  AddFact("kernel", machine.kernel(), report);
  AddFact("allocator", machine.allocator(), report);
}

}  // namespace footprint
