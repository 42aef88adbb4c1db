#include "footprint/profiling/memprof/json_report.h"

#include <cmath>

#include "footprint/profiling/memprof/site_table.h"
#include "footprint/profiling/symbols/symbolizer.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const SiteRow& row, bool is_sampled) {
  Json json = {{"function", row.function}};
  if (!row.file.empty()) {
    json["file"] = row.file;
    json["line"] = row.line;
  }
  json["module"] = row.module;
  json["at_peak_bytes"] = row.at_peak.bytes;
  json["at_peak_count"] = row.at_peak.count;
  if (is_sampled) json["at_peak_sigma_bytes"] = std::sqrt(row.at_peak.variance);
  json["at_end_bytes"] = row.at_end.bytes;
  json["allocated_bytes"] = row.allocated.bytes;
  json["allocation_count"] = row.allocated.count;
  json["temporary_count"] = row.temporary_count;
  return json;
}

void AddSites(const SiteProfile& profile, Symbolizer* symbolizer, Json* json) {
  (*json)["sampling_interval_bytes"] = profile.sampling_interval_bytes;
  (*json)["sites_are_incomplete"] = profile.is_incomplete;
  Json sites = Json::array();
  for (const SiteRow& row : SiteRows(profile, symbolizer)) {
    sites.push_back(ToJson(row, profile.sampling_interval_bytes != 0));
  }
  (*json)["sites"] = sites;
  Json timeline = Json::array();
  for (const SiteProfile::Point& point : profile.timeline) {
    timeline.push_back({point.time_ns, point.live_bytes});
  }
  (*json)["timeline"] = timeline;
}

Json ToJson(const MeasuredProcess& process, Symbolizer* symbolizer) {
  Json json = {
      {"process_id", process.process_id},
      {"parent_process_id", process.parent_process_id},
      {"image", process.image},
      {"is_fork", process.is_fork},
      {"executable", process.executable},
      {"command_line", process.command_line},
      {"begin_time_ns", process.begin_time_ns},
      {"peak_time_ns", process.peak_time_ns},
      {"peak_live_bytes", process.peak_live_bytes},
      {"inherited_live_bytes", process.inherited_live_bytes},
      {"own_peak_bytes", process.own_peak_bytes()},
      {"peak_mapped_bytes", process.peak_mapped_bytes},
      {"has_foreign_new", process.has_foreign_new},
      {"is_running", process.is_running},
  };
  if (process.has_totals) {
    json["end_time_ns"] = process.end_time_ns;
    json["live_bytes"] = process.live_bytes;
    json["allocated_bytes"] = process.allocated_bytes;
    json["allocation_count"] = process.allocation_count;
    json["sum_thread_peak_bytes"] = process.sum_thread_peak_bytes;
    json["peak_resident_bytes"] = process.peak_resident_bytes;
    json["thread_count"] = process.thread_count;
    json["threads_may_overlap"] = process.threads_may_overlap;
  }
  if (process.sites.has_value()) AddSites(*process.sites, symbolizer, &json);
  return json;
}

}  // namespace

std::string JsonReport(const AgentRunEnd& end,
                       const std::vector<std::string>& program) {
  Json json = {{"program", program}};
  if (end.signal_number != 0) {
    json["signal_number"] = end.signal_number;
  } else {
    json["exit_status"] = end.exit_status;
  }
  json["wall_time_ns"] = end.wall_time_ns;
  json["user_time_ns"] = end.user_time_ns;
  json["system_time_ns"] = end.system_time_ns;
  json["peak_resident_sum_bytes"] = end.peak_resident_sum_bytes;
  Symbolizer symbolizer;
  Json processes = Json::array();
  for (const MeasuredProcess& process : end.processes) {
    processes.push_back(ToJson(process, &symbolizer));
  }
  json["processes"] = processes;
  // Names of files need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace footprint
