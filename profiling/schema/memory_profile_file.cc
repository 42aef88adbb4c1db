#include "footprint/profiling/schema/memory_profile_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// The end of a file: field 16, a fixed32, as protobuf writes it, so that other
// readers of protobuf pass over it.
constexpr absl::string_view kChecksumTag("\x85\x01", 2);
constexpr size_t kChecksumSize = sizeof(uint32_t);

// By four bits: a table of 64 bytes, since it is part of every measured
// program.
constexpr std::array<uint32_t, 16> MakeChecksumTable() {
  constexpr uint32_t kPolynomial = 0xEDB88320;  // IEEE 802.3, lowest bit first
  std::array<uint32_t, 16> table = {};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t remainder = i;
    for (int bit = 0; bit < 4; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
    }
    table[i] = remainder;
  }
  return table;
}

// CRC-32 as zlib has it: finds every change of up to 32 bits in a row, and any
// other but for one in 4 billion.
uint32_t ChecksumOf(absl::string_view bytes) {
  static constexpr std::array<uint32_t, 16> kTable = MakeChecksumTable();
  uint32_t remainder = 0xFFFFFFFF;
  for (char c : bytes) {
    remainder ^= static_cast<unsigned char>(c);
    remainder = (remainder >> 4) ^ kTable[remainder & 15];
    remainder = (remainder >> 4) ^ kTable[remainder & 15];
  }
  return ~remainder;
}

void AppendChecksum(std::string* bytes) {
  uint32_t checksum = ChecksumOf(*bytes);
  bytes->append(kChecksumTag.data(), kChecksumTag.size());
  for (size_t i = 0; i < kChecksumSize; ++i, checksum >>= 8) {
    bytes->push_back(static_cast<char>(checksum & 0xFF));
  }
}

enum class Checksum { kMissing, kRight, kWrong };

// Takes the checksum off the end of `bytes`, if there is one.
Checksum TakeChecksum(absl::string_view* bytes) {
  const size_t size = kChecksumTag.size() + kChecksumSize;
  if (bytes->size() < size) return Checksum::kMissing;
  const absl::string_view end = bytes->substr(bytes->size() - size);
  if (end.substr(0, kChecksumTag.size()) != kChecksumTag) {
    return Checksum::kMissing;
  }
  bytes->remove_suffix(size);
  uint32_t checksum = 0;
  for (size_t i = size; i > kChecksumTag.size(); --i) {
    checksum = checksum << 8 | static_cast<unsigned char>(end[i - 1]);
  }
  return checksum == ChecksumOf(*bytes) ? Checksum::kRight : Checksum::kWrong;
}

const char* NounOf(const MemoryProfile&) { return "memory profile"; }
const char* NounOf(const MemorySamples&) { return "file of memory samples"; }

// What is wrong with a message, or "": each says where, beginning with `where`.
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
  // Every enumerator field, set or not: unset is "unspecified", and that is an
  // error too.
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

std::string FindInconsistency(const MemoryProfile& profile) {
  if (profile.process_count() < 0) return "a negative process_count";
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

// Why a file is refused before its content is looked at: it is newer, foreign,
// cut short, or of a Footprint that wrote no checksum.
absl::Status RefuseFile(bool is_parsed, int version, bool is_complete,
                        const std::string& path, const std::string& noun) {
  if (is_parsed && version > kMemoryProfileSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": has schema version ", version,
        ", and this program reads up to ", kMemoryProfileSchemaVersion,
        "; update Footprint here, or measure with this version of it"));
  }
  if (version < 1 || version > kMemoryProfileSchemaVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no ", noun,
                     "; name the output of a memory_profile target"));
  }
  if (!is_parsed || !is_complete) {
    return absl::DataLossError(absl::StrCat(
        path, ": is no whole ", noun,
        ": cut short or damaged; run again what should have written it"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": has no checksum, so nothing shows that it is whole: an older "
      "Footprint wrote it, or its end is damaged; measure again: bazel "
      "build the memory_profile target that it is of"));
}

template <typename FileMessage>
absl::StatusOr<FileMessage> Read(const std::string& path) {
  FileMessage message;
  absl::StatusOr<std::string> file = ReadWholeFile(path);
  if (!file.ok()) return file.status();
  const std::string noun = NounOf(message);
  if (file->empty()) {
    return absl::DataLossError(absl::StrCat(
        path, ": is empty; run again what should have written the ", noun));
  }
  absl::string_view bytes = *file;
  const Checksum checksum = TakeChecksum(&bytes);
  if (checksum == Checksum::kWrong) {
    return absl::DataLossError(absl::StrCat(
        path,
        ": is damaged: its checksum is that of other bytes; run again "
        "what should have written the ",
        noun));
  }
  const bool is_parsed =
      message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const int version = message.schema_version();
  if (checksum == Checksum::kMissing || !is_parsed || !message.complete() ||
      version < 1 || version > kMemoryProfileSchemaVersion) {
    return RefuseFile(is_parsed, version, message.complete(), path, noun);
  }
  std::string problem = FindUnknown(message, "");
  if (problem.empty()) problem = FindInconsistency(message);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no valid ", noun, ": ", problem,
                     "; write it with the same version of Footprint"));
  }
  message.clear_complete();
  return message;
}

template <typename FileMessage>
absl::Status Write(FileMessage message, const std::string& path) {
  message.set_schema_version(kMemoryProfileSchemaVersion);
  message.set_complete(true);
  std::string problem = FindUnknown(message, "");
  if (problem.empty()) problem = FindInconsistency(message);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not written: the ", NounOf(message), " has ", problem));
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message.SerializeToCodedStream(&coded)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": not written: it cannot be serialised"));
    }
  }
  AppendChecksum(&bytes);
  // A build makes it again.
  return ReplaceFile(path, bytes, ToDisk::kAtLeisure);
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
