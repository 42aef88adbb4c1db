// Tells whether a preloaded agent can measure a program, and finds the
// program's file.
//
//   absl::StatusOr<std::string> path = FindMeasurableProgram("python3");
//   // "/usr/bin/python3", or why it cannot be measured
//
// A program can be measured if the dynamic loader loads it and respects
// LD_PRELOAD. These are refused: static programs, programs of another
// architecture or C library's loader, programs that change their user or have
// capabilities, and programs with AddressSanitizer or related tools, whose own
// malloc must come first. For a script, its interpreter is examined, and the
// result is the script's path.
//
// Depends on the file system and on PATH; thread-safe while no thread changes
// the environment. Memory: the program's file, which is read whole. Errors,
// with the reason and what to do: those of FileError, such as kNotFound and
// kPermissionDenied, for a file that cannot be run; kInvalidArgument for a
// folder, a device, a file that is neither a program nor a script, or more than
// four scripts that interpret one another; kFailedPrecondition for a program
// that cannot be measured.

#ifndef FOOTPRINT_PROFILING_MEMPROF_MEASURABLE_PROGRAM_H_
#define FOOTPRINT_PROFILING_MEMPROF_MEASURABLE_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"

namespace footprint {

// `name` is a path, or a name that is searched in the folders of PATH.
absl::StatusOr<std::string> FindMeasurableProgram(const std::string& name);

}  // namespace footprint

// Tested by strange_programs_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_MEASURABLE_PROGRAM_H_
