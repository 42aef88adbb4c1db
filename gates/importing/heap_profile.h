// Heap profiles of pprof's kinds: what was in use when they were written.
//
//   absl::StatusOr<ForeignFigures> figures = ParseHeapProfileText(text);
//   figures = ParseGzippedHeapProfile(bytes);
//
// * pprof's gzipped protobuf, as Go and others write it: "inuse_space";
// * text of gperftools ("heap profile: ... @ heapprofile", every call counted;
//   "@ heap_v2/524288", sampled) and of jemalloc ("heap_v2/524288"). Sampled
//   texts hold the samples themselves: each call site's bytes are divided by
//   the chance that a block of its mean size is sampled.
//
// A heap profile is no peak: it is the moment at which it was written. Give all
// the files that a program wrote; the highest counts. Go's and gperftools'
// bytes are those asked for, jemalloc's the usable ones.
//
// Pure functions, thread-safe; results own their text. Memory: the profile
// unpacked, at most kMostUnpackedBytes, and its message. Time: linear.

#ifndef FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_
#define FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

inline constexpr int64_t kMostUnpackedBytes = int64_t{256} << 20;

bool LooksLikeHeapProfileText(absl::string_view text);
bool LooksGzipped(absl::string_view bytes);

// kDataLoss: cut short or damaged. kInvalidArgument: another format, or a
// profile of something else than a heap; it says of what.
absl::StatusOr<ForeignFigures> ParseHeapProfileText(absl::string_view text);
// Besides, kResourceExhausted: larger than kMostUnpackedBytes.
absl::StatusOr<ForeignFigures> ParseGzippedHeapProfile(absl::string_view bytes);
// The same, unpacked.
absl::StatusOr<ForeignFigures> ParseHeapProfileMessage(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_
