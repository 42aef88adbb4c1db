// Formats a memory profile, or its samples, for people and programs.
//
//   absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
//   if (profile.ok()) std::cout << ProfileText(*profile);
//
// The text says what was measured and where, the metrics of every benchmark and
// phase with their class, the metrics that did not repeat, what held the bytes
// at a peak, and why there is no measurement if there is none. It leaves out
// the tool of an imported profile, the phase around a phase, and which metrics
// depend on the order of threads. The JSON has every field, with the names of
// memory_profile.proto, numbers as numbers, and enumerators by name.
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
