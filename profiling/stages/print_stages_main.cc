// Prints the stages in a folder of records as JSON, for tests:
//
//   print_stages FOLDER
//
//   [{"executable": ..., "is_fork": false, "peak_live_bytes": ...,
//     "peak_stage": 1, "stages": [{"name": "fit", "peak": ...}, ...],
//     "notes": [...]}, ...]

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_process.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

const char* KindName(StageFigures::Kind kind) {
  switch (kind) {
    case StageFigures::NAMED:
      return "named";
    case StageFigures::IMPORT:
      return "import";
    case StageFigures::FILE:
      return "file";
    default:
      return "none";
  }
}

Json ToJson(const StageFigures& stage) {
  return {{"name", stage.name()},
          {"kind", KindName(stage.kind())},
          {"parent", stage.parent()},
          {"visits", stage.visit_count()},
          {"begin_ns", stage.begin_time_ns()},
          {"wall_ns", stage.wall_time_ns()},
          {"peak", stage.peak_live_bytes()},
          {"absolute", stage.peak_live_absolute_bytes()},
          {"volume", stage.allocated_bytes()},
          {"count", stage.allocation_count()},
          {"growth", stage.net_growth_bytes()},
          {"left_open", stage.was_left_open()},
          {"lacks_last_visit", stage.lacks_last_visit()},
          {"unmeasured", stage.unmeasured_visit_count()},
          {"is_inherited", stage.is_inherited()}};
}

Json ToJson(const MeasuredProcess& process) {
  Json json = {{"executable", process.figures.executable()},
               {"is_fork", process.figures.is_fork()},
               {"image", process.figures.image()},
               {"peak_live_bytes", process.figures.peak_live_bytes()},
               {"peak_stage", process.peak_stage}};
  if (process.figures.stages().empty()) return json;
  json["stages"] = Json::array();
  for (const StageFigures& stage : process.figures.stages()) {
    json["stages"].push_back(ToJson(stage));
  }
  json["notes"] = std::vector<std::string>(process.figures.notes().begin(),
                                           process.figures.notes().end());
  if (process.sites.has_value()) {
    Json bytes = Json::object();
    for (const SiteProfile::Site& site : process.sites->sites) {
      Json& sum = bytes[std::to_string(site.stage)];
      sum = (sum.is_null() ? 0 : sum.get<int64_t>()) + site.at_peak.bytes;
    }
    json["at_peak_by_stage"] = bytes;
  }
  return json;
}

int Print(const std::string& folder) {
  const absl::StatusOr<std::vector<MeasuredProcess>> processes =
      ReadRecords(folder);
  if (!processes.ok()) {
    std::cerr << processes.status() << "\n";
    return 1;
  }
  Json json = Json::array();
  for (const MeasuredProcess& process : *processes) {
    json.push_back(ToJson(process));
  }
  std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  return 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return argc == 2 ? footprint::Print(argv[1]) : 2;
}
