// Makes the memory profile of a whole program, phase by phase.
//
//   int main(int argc, char** argv) {
//     footprint::ProgramProfile profile(&argc, argv);  // "startup" ends
//     profile.SetName("linear_regression");
//     profile.AddArgument("rows", "1000");
//     {
//       footprint::MemoryPhase phase("fit");
//       Fit();
//     }
//     absl::Status status = profile.Write();
//     ...
//   }
//
// Link the program with `malloc = "//profiling:exact_heap"`, and measure it
// with the rule `memory_profile`, with --memory_profile_out=FILE or with
// --memory_samples_out=FILE. Without these flags nothing is recorded or
// written, and the program runs as usual.
//
// The whole run is measured from the first allocation before main. The phase
// "startup" has the memory that the process holds before its own work begins:
// its allocations until the constructor, and, as IMAGE_BYTES, its code and
// libraries.
//
// Thread-compatible. Make one object per program, at the start of main. Copies
// its arguments. Memory: some kilobytes on the heap in the constructor, and
// none while phases run.

#ifndef FOOTPRINT_PROFILING_RECORDING_PROGRAM_PROFILE_H_
#define FOOTPRINT_PROFILING_RECORDING_PROGRAM_PROFILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/recording/memory_output_flags.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class ProgramProfile {
 public:
  // Removes --memory_profile_out= and --memory_samples_out= from `argv`;
  // `Write` reports flags that name no file or the same file.
  ProgramProfile(int* argc, char** argv);
  ProgramProfile(const ProgramProfile&) = delete;
  ProgramProfile& operator=(const ProgramProfile&) = delete;

  // Sets the name that thresholds select; by default it is the last part of
  // argv[0].
  void SetName(absl::string_view name);

  // Appends "/name:value" to the name, in the order of the calls.
  void AddArgument(absl::string_view name, absl::string_view value);

  // The files that Write makes; empty if not wanted.
  const std::string& profile_path() const { return outputs_.profile_path; }
  const std::string& samples_path() const { return outputs_.samples_path; }

  // Returns whether a profile was asked for.
  bool IsWanted() const;

  // Ends the measurement and writes the requested files. Call it once. Does
  // nothing if no file is wanted, and writes nothing in a forked child. Returns
  // kInvalidArgument if a flag named no file or both named the same;
  // kFailedPrecondition if the program's allocations are not counted, a phase
  // is still open, or there were more than 256 phases; otherwise the errors of
  // memory_profile_file.h.
  absl::Status Write();

 private:
  absl::Status flags_;
  MemoryOutputs outputs_;
  HeapPhaseBytes startup_;
  std::string name_;
  BenchmarkMemory memory_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_PROGRAM_PROFILE_H_
