// Formats a memory profile, or its samples, for people and programs.
//
//   absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
//   if (profile.ok()) std::cout << ProfileText(*profile);
//
// The text has everything in the file: what was measured and where, the metrics
// of every benchmark and phase with their class, the metrics that did not
// repeat, what held the bytes at a peak, and why there is no measurement if
// there is none. The JSON has the names of the fields of memory_profile.proto,
// numbers as numbers, and enumerators by name.
//
// Pure functions, thread-safe; the result is a copy. Control characters in
// names become \xNN in text and are escaped in JSON. Memory and time: linear in
// the message.

#ifndef FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_
#define FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_

#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

std::string ProfileText(const MemoryProfile& profile);
std::string SamplesText(const MemorySamples& samples);

// Returns one object, with a newline at its end.
std::string ProfileJson(const MemoryProfile& profile);
std::string SamplesJson(const MemorySamples& samples);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_
