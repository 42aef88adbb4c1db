// Limits that the packing of a folder or an image keeps, and a function to
// which it reports its progress.
//
//   PackingOptions options;
//   options.limits = LimitsOfArchive(most_archive_bytes);
//   options.limits.is_stopped = [&] { return signals.is_stopped(); };
//   options.report_bytes = [&](int64_t packed, int64_t all) { ... };
//   absl::Status status = MakeBundle("model_folder", "model.bundle", options);
//
// Plain data and a pure function. Thread-compatible; the functions are called
// on the thread that packs. Memory: theirs.

#ifndef FOOTPRINT_GATES_BUNDLES_PACKING_H_
#define FOOTPRINT_GATES_BUNDLES_PACKING_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "footprint/gates/bundles/bundle_limits.h"

namespace footprint {

struct PackingOptions {
  // The limits of the archive and of the files in it, which should be those of
  // the receiver.
  BundleLimits limits;
  // This function, unless it is empty, is called after each block with the
  // bytes of files that were packed, and of all files.
  std::function<void(int64_t packed_bytes, int64_t all_bytes)> report_bytes;
};

// Reports the bytes. Returns Cancelled if the work has to stop, and
// ResourceExhausted if the archive is larger than allowed.
absl::Status NotePackedBytes(const PackingOptions& options,
                             int64_t packed_bytes, int64_t all_bytes,
                             int64_t archive_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_BUNDLES_PACKING_H_
