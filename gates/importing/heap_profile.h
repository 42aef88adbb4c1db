// Parses heap profiles in pprof's formats: the memory in use when they were
// written.
//
//   absl::StatusOr<ForeignFigures> figures = ParseHeapProfileText(text);
//   figures = ParseGzippedHeapProfile(bytes);
//
// * pprof's gzipped protobuf, as Go and others write it: "inuse_space";
// * text of gperftools ("heap profile: ... @ heapprofile" counts every call,
//   "@ heap_v2/524288" is sampled) and of jemalloc ("heap_v2/524288"). Sampled
//   texts contain the raw samples, so each call site's bytes are divided by the
//   probability that a block of its mean size is sampled.
//
// A heap profile shows the moment at which it was written, not the peak. Import
// all the files that a program wrote; the highest counts. Go and gperftools
// count requested bytes, jemalloc usable bytes.
//
// Pure functions, thread-safe; results own their text. Memory: the unpacked
// profile, at most kMostUnpackedBytes, and its message. Time: linear.

#ifndef FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_
#define FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

inline constexpr int64_t kMostUnpackedBytes = int64_t{256} << 20;

// These return whether the bytes begin like a heap profile in text, and like a
// gzipped file.
bool LooksLikeHeapProfileText(absl::string_view text);
bool LooksGzipped(absl::string_view bytes);

// Returns kDataLoss if the profile is cut short or damaged, and
// kInvalidArgument for another format or a profile of something other than a
// heap, which the message names.
absl::StatusOr<ForeignFigures> ParseHeapProfileText(absl::string_view text);
// Fails in the same ways, and returns kResourceExhausted if the profile is
// larger than kMostUnpackedBytes.
absl::StatusOr<ForeignFigures> ParseGzippedHeapProfile(absl::string_view bytes);
// Parses pprof's message, unpacked. Returns kInvalidArgument if it is not one,
// or not a heap's.
absl::StatusOr<ForeignFigures> ParseHeapProfileMessage(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_HEAP_PROFILE_H_
