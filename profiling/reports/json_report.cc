#include "footprint/profiling/reports/json_report.h"

#include <utility>

#include "footprint/base/report/report_json.h"
#include "footprint/base/text/message_json.h"
#include "footprint/profiling/records/run_metric_table.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/site_rows.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

Json RowJson(const SiteRow& row) {
  Json json = {{"function", row.frame.function()}};
  if (!row.frame.file().empty()) {
    json["file"] = row.frame.file();
    json["line"] = row.frame.line();
  }
  json["module"] = row.frame.module();
  json["kind"] = CodeFrame::Kind_Name(row.frame.kind());
  json["at_peak_bytes"] = row.at_peak.bytes();
  json["at_peak_count"] = row.at_peak.count();
  if (row.at_peak.variance() > 0) {
    json["at_peak_sigma_bytes"] = SigmaBytes(row.at_peak);
  }
  json["at_end_bytes"] = row.at_end.bytes();
  json["allocated_bytes"] = row.allocated.bytes();
  json["allocation_count"] = row.allocated.count();
  json["temporary_count"] = row.temporary_count;
  return json;
}

void SetSites(const CodePlaces& places, const MeasuredImage& image,
              Json* json) {
  (*json)["stacks"] = std::move((*json)["sites"]);
  Json rows = Json::array();
  for (const SiteRow& row : SiteRows(places, image)) {
    rows.push_back(RowJson(row));
  }
  (*json)["sites"] = std::move(rows);
  Json timeline = Json::array();
  for (const TimelinePoint& point : image.timeline()) {
    timeline.push_back({point.time_ns(), point.live_bytes(), point.stage()});
  }
  (*json)["timeline"] = std::move(timeline);
}

void SetImage(const CodePlaces& places, const MeasuredImage& image,
              Json* json) {
  (*json)["own_peak_bytes"] = OwnPeakBytes(image);
  (*json)["is_running"] = image.end() == MeasuredImage::RUNS_ON;
  if (!image.has_totals()) {
    json->erase("end_time_ns");
#define FOOTPRINT_ERASE(field, ...) json->erase(#field);
    FOOTPRINT_PROCESS_METRICS(FOOTPRINT_ERASE)
#undef FOOTPRINT_ERASE
  }
  if (image.has_sites()) {
    SetSites(places, image, json);
  } else {
    json->erase("sites");
    json->erase("timeline");
  }
}

}  // namespace

std::string JsonReport(const MeasuredRun& run) {
  Json json = Json::parse(MessageJson(run));
  json.erase(run.signal_number() != 0 ? "exit_status" : "signal_number");
  Json processes = std::move(json["images"]);
  json.erase("images");
  const CodePlaces places(run);
  for (int i = 0; i < run.images_size(); ++i) {
    SetImage(places, run.images(i), &processes[static_cast<size_t>(i)]);
  }
  json["processes"] = std::move(processes);
  json["report"] = ReportJson(RunReport(run));
  // Names of files may not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace footprint
