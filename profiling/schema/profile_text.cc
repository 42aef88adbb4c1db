#include "footprint/profiling/schema/profile_text.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/message_json.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// The name, the figure and the note.
using Row = std::array<std::string, 3>;

std::string RowsText(const std::vector<Row>& rows, const std::string& indent) {
  TextTable table({{""}, {"", TextTable::kFigures}, {""}});
  for (const Row& row : rows) table.Fit(row);
  std::string text;
  for (const Row& row : rows) absl::StrAppend(&text, indent, table.Row(row));
  return text;
}

std::string EnvironmentText(const Environment& environment) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {environment.allocator(), environment.allocator_options(),
        environment.compiler(), environment.c_library(),
        environment.cpp_library(), environment.simd_level(),
        environment.architecture(), environment.interpreter(),
        environment.loaded_modules()}) {
    if (!part.empty()) parts.push_back(EscapeForTerminal(part));
  }
  if (environment.page_size_bytes() > 0) {
    parts.push_back(
        absl::StrCat("pages of ", FormatBytes(environment.page_size_bytes())));
  }
  return parts.empty()
             ? ""
             : absl::StrCat("  environment: ", absl::StrJoin(parts, ", "),
                            "\n");
}

template <typename Measured>
std::string MetricsText(const Measured& measured, const std::string& indent) {
  std::vector<Row> rows;
  for (const Metric& metric : measured.metrics()) {
    rows.push_back({std::string(ShortNameOfMetric(metric.kind())),
                    FormatMetricValue(metric.kind(), metric.value()),
                    std::string(Determinism_Name(metric.determinism()))});
  }
  std::string text = RowsText(rows, indent);
  for (int kind : measured.unrepeated()) {
    absl::StrAppend(&text, indent,
                    ShortNameOfMetric(static_cast<MetricKind>(kind)),
                    ": not EXACT; its values are in the samples\n");
  }
  return text;
}

std::string AttributionText(
    const char* heading,
    const google::protobuf::RepeatedPtrField<Attribution>& attributions) {
  if (attributions.empty()) return "";
  std::vector<Row> rows;
  for (const Attribution& attribution : attributions) {
    rows.push_back({EscapeForTerminal(attribution.site()),
                    FormatBytes(attribution.live_bytes()), ""});
  }
  return absl::StrCat("  ", heading, "\n", RowsText(rows, "    "));
}

std::string BenchmarkText(const BenchmarkMemory& benchmark) {
  std::string text = absl::StrCat("\n", EscapeForTerminal(benchmark.name()),
                                  "\n", MetricsText(benchmark, "  "));
  if (benchmark.forked_process_count() > 0) {
    absl::StrAppend(&text,
                    "  child processes, whose memory is not in the "
                    "figures: ",
                    benchmark.forked_process_count(), "\n");
  }
  for (const Phase& phase : benchmark.phases()) {
    absl::StrAppend(&text, "  phase ", EscapeForTerminal(phase.name()), "\n",
                    MetricsText(phase, "    "));
  }
  absl::StrAppend(
      &text, AttributionText("live at the peak", benchmark.peak_attribution()),
      AttributionText("mapped at the peak of mapped bytes",
                      benchmark.mapped_attribution()));
  return text;
}

std::string FailureText(const ProducerFailure& failure) {
  std::string text =
      absl::StrCat("  no measurement: ",
                   std::string(ProducerFailure::Kind_Name(failure.kind())));
  if (failure.kind() == ProducerFailure::EXITED) {
    absl::StrAppend(&text, " with status ", failure.exit_status());
  } else if (failure.kind() == ProducerFailure::SIGNALLED) {
    absl::StrAppend(&text, " by signal ", failure.signal_number());
  } else if (failure.kind() == ProducerFailure::TIMED_OUT) {
    absl::StrAppend(&text, " after ", failure.time_limit_seconds(), " s");
  }
  if (!failure.detail().empty()) {
    absl::StrAppend(&text, ": ", EscapeForTerminal(failure.detail()));
  }
  text += "\n";
  if (failure.standard_error_tail().empty()) return text;
  text += "  the end of its standard error\n";
  for (absl::string_view line :
       absl::StrSplit(failure.standard_error_tail(), '\n')) {
    absl::StrAppend(&text, "    ", EscapeForTerminal(line), "\n");
  }
  return text;
}

}  // namespace

std::string ProfileText(const MemoryProfile& profile) {
  std::string text = absl::StrCat(EscapeForTerminal(profile.label()), "\n");
  if (profile.process_count() > 0) {
    absl::StrAppend(
        &text, "  measured in ", profile.process_count(),
        profile.process_count() == 1 ? " process\n" : " processes\n");
  }
  text += EnvironmentText(profile.environment());
  for (const Remark& remark : profile.remarks()) {
    absl::StrAppend(&text, "  ", EscapeForTerminal(remark.about()), ": ",
                    EscapeForTerminal(remark.text()), "\n");
  }
  if (profile.has_failure()) text += FailureText(profile.failure());
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    text += BenchmarkText(benchmark);
  }
  return text;
}

std::string SamplesText(const MemorySamples& samples) {
  std::string text =
      absl::StrCat(EscapeForTerminal(samples.label()), " (samples)\n",
                   EnvironmentText(samples.environment()));
  if (!samples.kernel().empty() || !samples.cpu_model().empty()) {
    absl::StrAppend(&text, "  kernel: ", EscapeForTerminal(samples.kernel()),
                    "; processor: ", EscapeForTerminal(samples.cpu_model()),
                    "\n");
  }
  for (const SampledBenchmark& benchmark : samples.benchmarks()) {
    absl::StrAppend(&text, "\n", EscapeForTerminal(benchmark.name()), "\n");
    std::vector<Row> rows;
    for (const SampledMetric& metric : benchmark.metrics()) {
      std::vector<std::string> values;
      for (int64_t value : metric.values()) {
        values.push_back(FormatMetricValue(metric.kind(), value));
      }
      rows.push_back({absl::StrCat(metric.phase().empty() ? "" : "phase ",
                                   EscapeForTerminal(metric.phase()),
                                   metric.phase().empty() ? "" : ", ",
                                   ShortNameOfMetric(metric.kind())),
                      absl::StrJoin(values, ", "), ""});
    }
    text += RowsText(rows, "  ");
  }
  return text;
}

std::string ProfileJson(const MemoryProfile& profile) {
  return MessageJson(profile);
}

std::string SamplesJson(const MemorySamples& samples) {
  return MessageJson(samples);
}

}  // namespace footprint
