// Reads arbitrary bytes as a file of a profile or of samples: as they are,
// followed by a correct checksum, as a profile's text, and as the parents of a
// benchmark's phases. A profile that is accepted must be the one that was
// written.

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/sealed_bytes.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

void RequireRight(const BenchmarkMemory& benchmark) {
  for (int i = 0; i < benchmark.phases_size(); ++i) {
    Require(benchmark.phases(i).parent() < i, "a phase lies in an earlier one");
  }
  for (const Metric& metric : benchmark.metrics()) {
    Require(MetricKind_IsValid(metric.kind()), "a metric is known");
  }
}

void ReadProfile(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<MemoryProfile> profile =
      ReadMemoryProfileFile(file.path());
  if (!profile.ok()) return RequireRefusal(profile.status());
  for (const BenchmarkMemory& benchmark : profile->benchmarks()) {
    RequireRight(benchmark);
  }
  const MemoryFile again(SealedBytes(profile->SerializeAsString(), 15));
  const absl::StatusOr<MemoryProfile> same =
      ReadMemoryProfileFile(again.path());
  Require(
      same.ok() && same->SerializeAsString() == profile->SerializeAsString(),
      "a profile that was written is read");
}

void ReadSamples(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<MemorySamples> samples =
      ReadMemorySamplesFile(file.path());
  if (!samples.ok()) RequireRefusal(samples.status());
}

// Ignores the parser's errors, which are many.
class IgnoredErrors : public google::protobuf::io::ErrorCollector {
 public:
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int, google::protobuf::io::ColumnNumber,
                   absl::string_view) override {}
#else
  void AddError(int, google::protobuf::io::ColumnNumber,
                const std::string&) override {}
#endif
};

void ReadText(absl::string_view bytes) {
  IgnoredErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  MemoryProfile profile;
  if (!parser.ParseFromString(std::string(bytes), &profile)) return;
  ReadProfile(SealedBytes(profile.SerializeAsString(), 15));
}

// Makes a phase for each byte, which is its parent.
void ReadParents(absl::string_view parents) {
  constexpr size_t kMostPhases = 64;
  MemoryProfile profile;
  BenchmarkMemory* const benchmark = profile.add_benchmarks();
  benchmark->set_name("BM_X");
  for (const char parent : parents.substr(0, kMostPhases)) {
    Phase* const phase = benchmark->add_phases();
    phase->set_name(absl::StrCat("phase", benchmark->phases_size()));
    phase->set_parent(static_cast<signed char>(parent));
  }
  ReadProfile(SealedBytes(profile.SerializeAsString(), 15));
}

void ReadAnyFile(absl::string_view bytes) {
  ReadProfile(bytes);
  ReadProfile(SealedBytes(bytes, 15));
  ReadSamples(SealedBytes(bytes, 14));
  ReadText(bytes);
  ReadParents(bytes);
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
