#include "footprint/gates/importing/foreign_file.h"

#include <cstddef>

#include "absl/status/status.h"
#include "footprint/gates/importing/benchmark_json.h"
#include "footprint/gates/importing/heap_profile.h"
#include "footprint/gates/importing/heaptrack_summary.h"
#include "footprint/gates/importing/massif_file.h"

namespace footprint {

absl::StatusOr<ForeignFigures> ParseForeignFile(absl::string_view bytes) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  if (bytes.size() > kMostBytes) {
    return absl::ResourceExhaustedError("is larger than 1 GiB");
  }
  if (bytes.empty()) {
    return absl::InvalidArgumentError(
        "is empty: the tool wrote nothing, or was stopped before it did");
  }
  if (LooksGzipped(bytes)) return ParseGzippedHeapProfile(bytes);
  if (LooksLikeMassif(bytes)) return ParseMassifFile(bytes);
  if (LooksLikeHeapProfileText(bytes)) return ParseHeapProfileText(bytes);
  if (LooksLikeJson(bytes)) return ParseBenchmarkJson(bytes);
  if (LooksLikeHeaptrack(bytes)) return ParseHeaptrackSummary(bytes);
  return absl::InvalidArgumentError(
      "is in none of the supported formats: massif's, heaptrack_print's, "
      "Google Benchmark's JSON, or a heap profile of pprof, gperftools or "
      "jemalloc");
}

}  // namespace footprint
