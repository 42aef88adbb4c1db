#include "footprint/profiling/schema/memory_profile_file.h"

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sealed_proto_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

constexpr char kAdvice[] =
    "measure again: bazel build the memory_profile target that it is of";

SealedProtoFormat MakeFormat(const MemoryProfile&) {
  return {"memory profile", kMemoryProfileSchemaVersion, kAdvice};
}
SealedProtoFormat MakeFormat(const MemorySamples&) {
  return {"file of memory samples", kMemoryProfileSchemaVersion, kAdvice};
}

// Returns a message's first fault, which begins with its place in `where`, or
// "".
std::string FindUnknown(const Message& message, const std::string& where);

std::string FindUnknownInField(const Message& message,
                               const FieldDescriptor* field, int index,
                               const std::string& where) {
  const Reflection* reflection = message.GetReflection();
  const bool is_repeated = field->is_repeated();
  const std::string place =
      absl::StrCat(where, where.empty() ? "" : ".", std::string(field->name()),
                   is_repeated ? absl::StrCat("[", index, "]") : "");
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return FindUnknown(
        is_repeated ? reflection->GetRepeatedMessage(message, field, index)
                    : reflection->GetMessage(message, field),
        place);
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const int number =
        is_repeated ? reflection->GetRepeatedEnumValue(message, field, index)
                    : reflection->GetEnumValue(message, field);
    if (number == 0 || !field->enum_type()->FindValueByNumber(number)) {
      return absl::StrCat(place, " = ", number, ", which is no ",
                          std::string(field->enum_type()->name()));
    }
  }
  return "";
}

std::string FindUnknown(const Message& message, const std::string& where) {
  const Reflection* reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) {
    return absl::StrCat("unknown field ", unknown.field(0).number(),
                        where.empty() ? "" : " in ", where);
  }
  // Checks every enumerator field: an unset field is "unspecified", which is
  // also an error.
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool is_message =
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int count = field->is_repeated()
                          ? reflection->FieldSize(message, field)
                      : !is_message                          ? 1
                      : reflection->HasField(message, field) ? 1
                                                             : 0;
    for (int index = 0; index < count; ++index) {
      std::string problem = FindUnknownInField(message, field, index, where);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

template <typename Metrics>
std::string FindBadMetric(const Metrics& metrics, const std::string& where) {
  std::set<int> kinds;
  for (const Metric& metric : metrics) {
    if (!kinds.insert(metric.kind()).second) {
      return absl::StrCat(where, " has ", MetricKind_Name(metric.kind()),
                          " twice");
    }
    if (metric.value() < 0 && metric.kind() != NET_GROWTH_USABLE_BYTES) {
      return absl::StrCat(where, " has ", MetricKind_Name(metric.kind()), " = ",
                          metric.value(), ", below zero");
    }
  }
  return "";
}

std::string FindInconsistency(const BenchmarkMemory& benchmark) {
  const std::string where =
      absl::StrCat("benchmark \"", benchmark.name(), "\"");
  if (benchmark.name().empty()) return "a benchmark has no name";
  std::string problem = FindBadMetric(benchmark.metrics(), where);
  std::set<std::string> phase_names;
  for (int i = 0; problem.empty() && i < benchmark.phases_size(); ++i) {
    const Phase& phase = benchmark.phases(i);
    if (phase.parent() < -1 || phase.parent() >= i) {
      return absl::StrCat(where, ", phase \"", phase.name(), "\" has parent ",
                          phase.parent(), ", which is no earlier phase");
    }
    if (!phase_names.insert(phase.name()).second) {
      return absl::StrCat(where, " has two phases named \"", phase.name(),
                          "\"");
    }
    problem = FindBadMetric(
        phase.metrics(), absl::StrCat(where, ", phase \"", phase.name(), "\""));
  }
  return problem;
}

bool HasExactFigure(const MemoryProfile& profile) {
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    for (const Metric& metric : benchmark.metrics()) {
      if (metric.determinism() == EXACT) return true;
    }
    for (const Phase& phase : benchmark.phases()) {
      for (const Metric& metric : phase.metrics()) {
        if (metric.determinism() == EXACT) return true;
      }
    }
  }
  return false;
}

std::string FindInconsistency(const MemoryProfile& profile) {
  if (profile.process_count() < 0) return "a negative process_count";
  if (profile.has_imported() && HasExactFigure(profile)) {
    return "an EXACT figure that was imported from another tool";
  }
  if (!profile.has_failure() && profile.benchmarks_size() == 0) {
    return "neither a benchmark nor a failure";
  }
  if (profile.has_failure() && profile.benchmarks_size() > 0 &&
      profile.failure().kind() != ProducerFailure::BENCHMARKS_FAILED) {
    return "both benchmarks and a failure";
  }
  std::set<std::string> names;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    std::string problem = FindInconsistency(benchmark);
    if (!problem.empty()) return problem;
    if (!names.insert(benchmark.name()).second) {
      return absl::StrCat("two benchmarks named \"", benchmark.name(), "\"");
    }
  }
  return "";
}

std::string FindInconsistency(const MemorySamples& samples) {
  std::set<std::string> names;
  for (const SampledBenchmark& benchmark : samples.benchmarks()) {
    if (!names.insert(benchmark.name()).second) {
      return absl::StrCat("two benchmarks named \"", benchmark.name(), "\"");
    }
  }
  return "";
}

// Returns the first fault of a message that was read completely, or "".
template <typename FileMessage>
std::string FindProblem(const FileMessage& message) {
  std::string problem = FindUnknown(message, "");
  return problem.empty() ? FindInconsistency(message) : problem;
}

template <typename FileMessage>
absl::StatusOr<FileMessage> Read(const std::string& path) {
  FileMessage message;
  const SealedProtoFormat format = MakeFormat(message);
  const absl::Status status = ReadSealedProto(format, path, &message);
  if (!status.ok()) return status;
  const std::string problem = FindProblem(message);
  if (problem.empty()) return message;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is no valid ", format.noun, ": ", problem,
                   "; write it with the same version of Footprint"));
}

template <typename FileMessage>
absl::Status Write(const FileMessage& message, const std::string& path) {
  const SealedProtoFormat format = MakeFormat(message);
  const std::string problem = FindProblem(message);
  if (problem.empty()) return WriteSealedProto(format, message, path);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": not written: the ", format.noun, " has ", problem));
}

}  // namespace

absl::StatusOr<MemoryProfile> ReadMemoryProfileFile(const std::string& path) {
  return Read<MemoryProfile>(path);
}

absl::StatusOr<MemorySamples> ReadMemorySamplesFile(const std::string& path) {
  return Read<MemorySamples>(path);
}

absl::Status WriteMemoryProfileFile(const MemoryProfile& profile,
                                    const std::string& path) {
  return Write(profile, path);
}

absl::Status WriteMemorySamplesFile(const MemorySamples& samples,
                                    const std::string& path) {
  return Write(samples, path);
}

}  // namespace footprint
