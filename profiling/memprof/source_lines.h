// Reads the lines of source that a report shows beside its figures.
//
//   SourceLines lines(run.begin_unix_time_ns());
//   lines.Read(frame);  // "table = pd.read_csv(path)"; empty: unknown
//
// A run may come from anywhere and name any file, and its report may be passed
// on. So a file is read only if it is source: a regular file of at most
// kMostSourceBytes with a suffix of a programming language, or a script that
// names Python in its first line; and only if it is text. A file that changed
// after the run began is not shown: its lines may have moved.
//
// The line is returned without the blanks at its ends and not escaped: whoever
// prints it must escape it. Never fails: the text of a line that cannot be read
// is empty. Owns the texts of the files that were read. Thread-compatible.
// Memory: those files, at most kMostFiles of them. Time: each file is read
// once.

#ifndef FOOTPRINT_PROFILING_MEMPROF_SOURCE_LINES_H_
#define FOOTPRINT_PROFILING_MEMPROF_SOURCE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

class SourceLines {
 public:
  static constexpr int64_t kMostSourceBytes = 4 << 20;
  static constexpr size_t kMostFiles = 200;

  explicit SourceLines(int64_t run_begin_unix_time_ns);

  // Returns the line of the frame; "" if it is unknown.
  std::string Read(const CodeFrame& frame);

 private:
  using Lines = std::vector<std::string>;

  Lines ReadFile(const std::string& path, bool is_python) const;

  int64_t run_begin_unix_time_ns_;
  std::map<std::string, Lines> files_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_SOURCE_LINES_H_
