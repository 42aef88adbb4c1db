// Contains the program that reads a trial's records, as bytes inside this
// program. So a server is one file that can be copied anywhere.
//
//   absl::Status status =
//       ReplaceFile(path, EmbeddedRecordReader(), ToDisk::kNoFsync);
//
// A constant: thread-safe, valid until the process ends. Memory: pages of the
// program's file, which each trial reads once.

#ifndef FOOTPRINT_GATES_TRIALS_EMBEDDED_RECORD_READER_H_
#define FOOTPRINT_GATES_TRIALS_EMBEDDED_RECORD_READER_H_

#include "absl/strings/string_view.h"

extern "C" {
extern const char footprint_record_reader_begin[];
extern const char footprint_record_reader_end[];
}

namespace footprint {

// Returns the bytes of the executable.
inline absl::string_view EmbeddedRecordReader() {
  return absl::string_view(footprint_record_reader_begin,
                           static_cast<size_t>(footprint_record_reader_end -
                                               footprint_record_reader_begin));
}

}  // namespace footprint

// Tested by run_trial_test.

#endif  // FOOTPRINT_GATES_TRIALS_EMBEDDED_RECORD_READER_H_
