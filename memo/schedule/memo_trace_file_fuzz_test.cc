// Reads any bytes as a trace, as they are and behind a correct checksum. The
// sizes that a later plan takes from the trace survive being remembered.

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/sealed_bytes.h"
#include "footprint/memo/schedule/memo_trace_file.h"

namespace footprint {
namespace {

using Sizes = std::map<std::string, LoadedSize>;

bool AreEqual(const LoadedSize& a, const LoadedSize& b) {
  return a.bytes == b.bytes && a.resident_bytes == b.resident_bytes &&
         a.load_peak_bytes == b.load_peak_bytes &&
         a.held_bytes == b.held_bytes &&
         a.held_resident_bytes == b.held_resident_bytes &&
         a.load_nanoseconds == b.load_nanoseconds && a.source == b.source;
}

void ReadTrace(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<Sizes> sizes = ReadRememberedSizes(file.path());
  if (!sizes.ok()) return RequireRefusal(sizes.status());
  const Sizes again = LoadedSizes(TraceOfSizes(*sizes));
  Require(again.size() == sizes->size(), "every size is remembered");
  for (const auto& [name, size] : *sizes) {
    Require(size.bytes >= 0 && size.held_bytes >= 0, "sizes are not negative");
    const auto found = again.find(name);
    Require(found != again.end() && AreEqual(found->second, size),
            "a size is remembered as it was");
  }
}

void ReadAnyFile(absl::string_view bytes) {
  ReadTrace(bytes);
  ReadTrace(SealedBytes(bytes, 15));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
