#include "footprint/profiling/schema/profile_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// ---- text ----

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// One line that moves no terminal.
std::string Shown(absl::string_view text) {
  std::string shown;
  for (char c : text) {
    if (IsControl(c)) {
      absl::StrAppendFormat(&shown, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

// Rows of equal columns, the figures to the right.
class Table {
 public:
  void Add(absl::string_view name, std::string figure, std::string note) {
    rows_.push_back({std::string(name), std::move(figure), std::move(note)});
  }

  std::string Write(const std::string& indent) const {
    size_t name = 0;
    size_t figure = 0;
    for (const Row& row : rows_) {
      name = std::max(name, row.name.size());
      figure = std::max(figure, row.figure.size());
    }
    std::string text;
    for (const Row& row : rows_) {
      absl::StrAppend(&text, indent, row.name,
                      std::string(name - row.name.size(), ' '), "  ",
                      std::string(figure - row.figure.size(), ' '), row.figure,
                      row.note.empty() ? "" : "  ", row.note, "\n");
    }
    return text;
  }

 private:
  struct Row {
    std::string name;
    std::string figure;
    std::string note;
  };
  std::vector<Row> rows_;
};

std::string EnvironmentText(const Environment& environment) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {environment.allocator(), environment.allocator_options(),
        environment.compiler(), environment.c_library(),
        environment.cpp_library(), environment.simd_level(),
        environment.architecture()}) {
    if (!part.empty()) parts.push_back(Shown(part));
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
  Table table;
  for (const Metric& metric : measured.metrics()) {
    table.Add(ShortNameOfMetric(metric.kind()),
              FormatMetricValue(metric.kind(), metric.value()),
              std::string(Determinism_Name(metric.determinism())));
  }
  std::string text = table.Write(indent);
  for (int kind : measured.unrepeated()) {
    absl::StrAppend(&text, indent,
                    ShortNameOfMetric(static_cast<MetricKind>(kind)),
                    ": not EXACT; its values are in the samples\n");
  }
  return text;
}

std::string BenchmarkText(const BenchmarkMemory& benchmark) {
  std::string text = absl::StrCat("\n", Shown(benchmark.name()), "\n",
                                  MetricsText(benchmark, "  "));
  if (benchmark.forked_process_count() > 0) {
    absl::StrAppend(&text,
                    "  child processes, whose memory is not in the "
                    "figures: ",
                    benchmark.forked_process_count(), "\n");
  }
  for (const Phase& phase : benchmark.phases()) {
    absl::StrAppend(&text, "  phase ", Shown(phase.name()), "\n",
                    MetricsText(phase, "    "));
  }
  if (benchmark.peak_attribution().empty()) return text;
  Table table;
  for (const Attribution& attribution : benchmark.peak_attribution()) {
    table.Add(Shown(attribution.site()), FormatBytes(attribution.live_bytes()),
              "");
  }
  return absl::StrCat(text, "  live at the peak\n", table.Write("    "));
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
    absl::StrAppend(&text, ": ", Shown(failure.detail()));
  }
  text += "\n";
  if (failure.standard_error_tail().empty()) return text;
  text += "  the end of its standard error\n";
  for (absl::string_view line :
       absl::StrSplit(failure.standard_error_tail(), '\n')) {
    absl::StrAppend(&text, "    ", Shown(line), "\n");
  }
  return text;
}

// ---- json ----

std::string QuoteForJson(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (IsControl(c)) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string JsonOf(const Message& message, const std::string& indent);

// A field's value, or the value at `index` of a list.
std::string JsonOfValue(const Message& message, const FieldDescriptor* field,
                        int index, const std::string& indent) {
  const auto* reflection = message.GetReflection();
  const bool is_list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return JsonOf(is_list
                        ? reflection->GetRepeatedMessage(message, field, index)
                        : reflection->GetMessage(message, field),
                    indent);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number =
          is_list ? reflection->GetRepeatedEnumValue(message, field, index)
                  : reflection->GetEnumValue(message, field);
      const auto* value = field->enum_type()->FindValueByNumber(number);
      return value == nullptr ? absl::StrCat(number)
                              : QuoteForJson(std::string(value->name()));
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return QuoteForJson(
          is_list ? reflection->GetRepeatedString(message, field, index)
                  : reflection->GetString(message, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(
          is_list ? reflection->GetRepeatedInt64(message, field, index)
                  : reflection->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(
          is_list ? reflection->GetRepeatedInt32(message, field, index)
                  : reflection->GetInt32(message, field));
    default:
      return "null";  // no other type is in the schema; the test looks
  }
}

std::string JsonOf(const Message& message, const std::string& indent) {
  const auto* reflection = message.GetReflection();
  const std::string inner = indent + "  ";
  std::string json = "{";
  const char* separator = "\n";
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool is_absent =
        !field->is_repeated() &&
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
        !reflection->HasField(message, field);
    // Of the file, not of what it says.
    if (is_absent || field->name() == "complete") continue;
    absl::StrAppend(&json, separator, inner,
                    QuoteForJson(std::string(field->name())), ": ");
    separator = ",\n";
    if (!field->is_repeated()) {
      json += JsonOfValue(message, field, 0, inner);
      continue;
    }
    std::vector<std::string> values;
    for (int j = 0; j < reflection->FieldSize(message, field); ++j) {
      values.push_back(JsonOfValue(message, field, j, inner));
    }
    absl::StrAppend(&json, "[", absl::StrJoin(values, ", "), "]");
  }
  return absl::StrCat(json, "\n", indent, "}");
}

}  // namespace

std::string ProfileText(const MemoryProfile& profile) {
  std::string text = absl::StrCat(Shown(profile.label()), "\n");
  if (profile.process_count() > 0) {
    absl::StrAppend(
        &text, "  measured in ", profile.process_count(),
        profile.process_count() == 1 ? " process\n" : " processes\n");
  }
  text += EnvironmentText(profile.environment());
  for (const Remark& remark : profile.remarks()) {
    absl::StrAppend(&text, "  ", Shown(remark.about()), ": ",
                    Shown(remark.text()), "\n");
  }
  if (profile.has_failure()) text += FailureText(profile.failure());
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    text += BenchmarkText(benchmark);
  }
  return text;
}

std::string SamplesText(const MemorySamples& samples) {
  std::string text = absl::StrCat(Shown(samples.label()), " (samples)\n",
                                  EnvironmentText(samples.environment()));
  if (!samples.kernel().empty() || !samples.cpu_model().empty()) {
    absl::StrAppend(&text, "  kernel: ", Shown(samples.kernel()),
                    "; processor: ", Shown(samples.cpu_model()), "\n");
  }
  for (const SampledBenchmark& benchmark : samples.benchmarks()) {
    absl::StrAppend(&text, "\n", Shown(benchmark.name()), "\n");
    Table table;
    for (const SampledMetric& metric : benchmark.metrics()) {
      std::vector<std::string> values;
      for (int64_t value : metric.values()) {
        values.push_back(FormatMetricValue(metric.kind(), value));
      }
      table.Add(absl::StrCat(metric.phase().empty() ? "" : "phase ",
                             Shown(metric.phase()),
                             metric.phase().empty() ? "" : ", ",
                             ShortNameOfMetric(metric.kind())),
                absl::StrJoin(values, ", "), "");
    }
    text += table.Write("  ");
  }
  return text;
}

std::string ProfileJson(const MemoryProfile& profile) {
  return JsonOf(profile, "") + "\n";
}

std::string SamplesJson(const MemorySamples& samples) {
  return JsonOf(samples, "") + "\n";
}

}  // namespace footprint
