#include "footprint/profiling/reports/speedscope_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/runs/amounts.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostCommandBytes = 60;

// Frames from the outermost to the innermost, as indices.
using Stack = std::vector<uint32_t>;

// Returns the frame for blocks whose call is unknown. It follows the run's own
// frames.
uint32_t UnknownFrame(const MeasuredRun& run) {
  return static_cast<uint32_t>(run.frames_size());
}

// Returns the frames of a call. Calls are numbered from 1; 0 is an unknown
// call, or no parent.
Stack FindStack(const MeasuredRun& run, uint32_t call) {
  if (call == 0) return {UnknownFrame(run)};
  Stack stack;
  for (; call != 0; call = run.calls(static_cast<int>(call) - 1).parent()) {
    stack.push_back(run.calls(static_cast<int>(call) - 1).frame());
  }
  std::reverse(stack.begin(), stack.end());
  return stack;
}

Json Frames(const MeasuredRun& run) {
  Json frames = Json::array();
  for (const CodeFrame& frame : run.frames()) {
    Json json = {{"name", frame.function()}};
    const std::string& file =
        frame.file().empty() ? frame.module() : frame.file();
    if (!file.empty()) json["file"] = file;
    if (!frame.file().empty() && frame.line() > 0) json["line"] = frame.line();
    frames.push_back(std::move(json));
  }
  // This is UnknownFrame.
  frames.push_back({{"name", "[before the agent began]"}});
  return frames;
}

using Measure = const Amount& (SiteAmounts::*)() const;

// Returns the stacks of one process with their bytes, sorted so that stacks
// with the same callers are adjacent.
Json Profile(const MeasuredRun& run, const MeasuredImage& image,
             const char* name, Measure measure) {
  std::map<Stack, int64_t> bytes;
  for (const SiteAmounts& site : image.sites()) {
    const int64_t each = (site.*measure)().bytes();
    if (each <= 0) continue;
    int64_t& sum = bytes[FindStack(run, site.call())];
    sum = SaturatedSum(sum, each);
  }
  Json samples = Json::array();
  Json weights = Json::array();
  int64_t sum = 0;
  for (const auto& [stack, each] : bytes) {
    samples.push_back(stack);
    weights.push_back(each);
    sum = SaturatedSum(sum, each);
  }
  return {{"type", "sampled"},
          {"name", absl::StrCat(name, ", process ", image.process_id(), ": ",
                                ShortCommand(image, kMostCommandBytes))},
          {"unit", "bytes"},
          {"startValue", 0},
          {"endValue", sum},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

}  // namespace

absl::StatusOr<std::string> SpeedscopeReport(const MeasuredRun& run) {
  Json profiles = Json::array();
  for (const MeasuredImage& image : run.images()) {
    if (!image.has_sites()) continue;
    profiles.push_back(
        Profile(run, image, "at the peak", &SiteAmounts::at_peak));
    profiles.push_back(
        Profile(run, image, "allocated", &SiteAmounts::allocated));
    // A process that was killed has no figures at its end.
    if (!image.has_totals()) continue;
    profiles.push_back(
        Profile(run, image, "left at exit", &SiteAmounts::at_end));
  }
  if (profiles.empty()) {
    return absl::FailedPreconditionError(
        "speedscope's format needs call sites, and none were recorded: measure "
        "with --sampling=BYTES");
  }
  const Json json = {
      {"$schema", "https://www.speedscope.app/file-format-schema.json"},
      {"name", absl::StrCat("Memory of ", ShortProgram(run))},
      {"exporter", "memprof"},
      {"activeProfileIndex", 0},
      {"shared", {{"frames", Frames(run)}}},
      {"profiles", std::move(profiles)}};
  // JSON must be UTF-8, and names of files need not be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace footprint
