#include "footprint/gates/importing/benchmark_json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;

constexpr int kMostNesting = 64;

bool IsTooDeep(absl::string_view text) {
  int depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_in_string = !is_in_string;
    if (is_in_string && c == '\\') ++i;
    if (is_in_string) continue;
    if ((c == '{' || c == '[') && ++depth > kMostNesting) return true;
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

// Looks for the depth first: a callback of the parser could see it, too, but
// with a callback the parser's time is quadratic in the length of a list.
absl::StatusOr<Json> ParseJson(absl::string_view text) {
  if (IsTooDeep(text)) {
    return absl::InvalidArgumentError("is JSON of too many levels");
  }
  Json json = Json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                          /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::DataLossError(
        "is not whole JSON: cut short, or something else is mixed in; write it "
        "with --benchmark_out=FILE");
  }
  return json;
}

std::string FindText(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}

absl::Status AddBenchmark(const Json& benchmark,
                          std::vector<ForeignPeak>* peaks) {
  if (!benchmark.is_object() || FindText(benchmark, "name").empty()) {
    return absl::InvalidArgumentError(
        "has a benchmark without a name, so it is not Google Benchmark's");
  }
  const std::string name = FindText(benchmark, "name");
  if (FindText(benchmark, "run_type") == "aggregate") return absl::OkStatus();
  if (benchmark.value("error_occurred", Json(false)) == Json(true)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has a benchmark that failed: ", EscapeForTerminal(name), ": ",
        EscapeForTerminal(FindText(benchmark, "error_message"))));
  }
  const auto found = benchmark.find("max_bytes_used");
  if (found == benchmark.end()) return absl::OkStatus();
  // Google Benchmark writes the largest int64 for "unknown".
  if (!found->is_number_integer() || found->get<int64_t>() < 0 ||
      *found >= Json(std::numeric_limits<int64_t>::max())) {
    return absl::InvalidArgumentError(
        absl::StrCat("has no count of bytes as \"max_bytes_used\" of ",
                     EscapeForTerminal(name)));
  }
  peaks->emplace_back();
  peaks->back().benchmark = name;
  peaks->back().bytes = found->get<int64_t>();
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeJson(absl::string_view text) {
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{");
}

absl::StatusOr<ForeignFigures> ParseBenchmarkJson(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseJson(text);
  if (!json.ok()) return json.status();
  const auto benchmarks =
      json->is_object() ? json->find("benchmarks") : json->end();
  if (benchmarks == json->end() || !benchmarks->is_array()) {
    return absl::InvalidArgumentError(
        "is JSON without a list \"benchmarks\", so it is not Google "
        "Benchmark's");
  }
  ForeignFigures measured;
  measured.tool = "google benchmark";
  measured.counts = "bytes that the program's MemoryManager counts";
  for (const Json& benchmark : *benchmarks) {
    absl::Status status = AddBenchmark(benchmark, &measured.peaks);
    if (!status.ok()) return status;
  }
  // Keeps the highest of several repetitions.
  ForeignFigures figures;
  const absl::Status added = AddFigures(measured, &figures);
  if (!added.ok()) return added;
  if (figures.peaks.empty()) {
    return absl::InvalidArgumentError(
        "has no benchmark with \"max_bytes_used\"; register a "
        "benchmark::MemoryManager in the program, or measure it by a "
        "memory_profile target");
  }
  return figures;
}

}  // namespace footprint
