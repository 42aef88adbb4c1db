// Reads and writes files of memory profiles and samples. No other code does.
//
//   absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
//   if (!profile.ok()) return profile.status();
//   absl::Status status = WriteMemoryProfileFile(*profile, other_path);
//
// A file is read whole or not at all. A file that is cut short, of another
// format, or newer than this code is refused. So is a file with a field that
// this code does not know: if a metric were skipped in silence, its gate would
// not judge. The files are sealed (//base/files:sealed_proto_file), so a file
// in which any bit changed is refused too. Equal messages give equal bytes. A
// write replaces the old file in one step; a failed write leaves the old file
// and nothing else.
//
// Thread-safe: no state is kept, and the caller owns the result. Of two writers
// of one path, the second waits for the first. Memory: the file's bytes and the
// message at once. Time: linear.

#ifndef FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_
#define FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// The schema version that a writer stores in `MemoryProfile` and
// `MemorySamples`, and the newest that a reader accepts.
inline constexpr int kMemoryProfileSchemaVersion = 1;

// Errors name `path`, what is wrong and the next step:
// * those of ReadSealedProto, such as kNotFound, kDataLoss and
//   kFailedPrecondition;
// * kInvalidArgument: not a file of this kind, or with a field or an enumerator
//   that this code does not know, or inconsistent (such as two benchmarks,
//   phases or metrics of one name or kind, a phase inside a later one, a
//   negative value of anything but net growth, neither benchmarks nor a
//   failure, or both unless the failure is that some benchmarks failed).
absl::StatusOr<MemoryProfile> ReadMemoryProfileFile(const std::string& path);
absl::StatusOr<MemorySamples> ReadMemorySamplesFile(const std::string& path);

// Sets the schema version in the file. Returns kInvalidArgument if a reader
// would refuse the file, and otherwise the errors of WriteSealedProto.
absl::Status WriteMemoryProfileFile(const MemoryProfile& profile,
                                    const std::string& path);
absl::Status WriteMemorySamplesFile(const MemorySamples& samples,
                                    const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_MEMORY_PROFILE_FILE_H_
