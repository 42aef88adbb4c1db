// Memory profiles and samples as files: the only reader and writer of them.
//
//   absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
//   if (!profile.ok()) return profile.status();
//   absl::Status status = WriteMemoryProfileFile(*profile, other_path);
//
// A file is read whole or not at all: one that is cut short, of another format,
// or newer than this code is refused, and so is one that says something this
// code does not know, since a metric passed over in silence would be a gate
// that does not judge. A file ends with the CRC-32 of all its other bytes, so
// one in which any bit changed is refused too, and so is one without it: it is
// against accidents, not against forgers. In protobuf's terms it is field 16, a
// fixed32. Equal messages give equal bytes. A write replaces the
// old file in one step; a failed write leaves the old file and nothing else.
//
// Thread-safe: no state is kept, and the caller owns what was read. Two writers
// of one path leave one of both files, whole. Memory: the file's bytes and the
// message, at once. Time: linear.

#ifndef FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_
#define FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Of `MemoryProfile` and `MemorySamples`: what a writer puts in, and the newest
// that a reader accepts.
inline constexpr int kMemoryProfileSchemaVersion = 1;

// Errors name `path`, what is wrong and the next step:
// * kNotFound: no such file;
// * kPermissionDenied, kInternal: it cannot be read;
// * kDataLoss: empty, cut short or damaged;
// * kFailedPrecondition: of a newer schema, or of an older Footprint, without a
//   checksum: measure again;
// * kInvalidArgument: not a file of this kind, or with a field or an enumerator
//   that this code does not know, or inconsistent (two benchmarks of one name,
//   two metrics of one kind, a phase inside a later one, a negative value of
//   anything but net growth, neither benchmarks nor a failure, or both where
//   the failure is not that of other benchmarks).
absl::StatusOr<MemoryProfile> ReadMemoryProfileFile(const std::string& path);
absl::StatusOr<MemorySamples> ReadMemorySamplesFile(const std::string& path);

// Sets the schema version in the file. kInvalidArgument if a reader would
// refuse it; kResourceExhausted if the disk is full; kNotFound if the folder is
// missing; kPermissionDenied or kInternal if the file cannot be written.
absl::Status WriteMemoryProfileFile(const MemoryProfile& profile,
                                    const std::string& path);
absl::Status WriteMemorySamplesFile(const MemorySamples& samples,
                                    const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_
