// A memory profile, or the samples beside it, as people and programs read it.
//
//   absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
//   if (profile.ok()) std::cout << ProfileText(*profile);
//
// The text names everything that the file holds: what was measured and where,
// the metrics of every benchmark and phase with their class, what did not
// repeat, who held the bytes at a peak, and why there is no measurement if
// there is none. The JSON has the fields of memory_profile.proto by their
// names, numbers as numbers, enumerators by name.
//
// Pure functions, thread-safe; the result copies what it names. Control
// characters in names are shown as \xNN in text and escaped in JSON. Memory and
// time: linear in the message.

#ifndef FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_
#define FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_

#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

std::string ProfileText(const MemoryProfile& profile);
std::string SamplesText(const MemorySamples& samples);

// One object, with a newline at its end.
std::string ProfileJson(const MemoryProfile& profile);
std::string SamplesJson(const MemorySamples& samples);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_PROFILE_TEXT_H_
