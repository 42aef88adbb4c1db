// Words and figures that the parts of a text report share.
//
//   Seconds(1500000000);        // "1.500 s"
//   ShortCommand(image, 60);    // "python3 train.py --epochs=3"
//   PlaceText(frame);           // "train.cc:31"
//
// Pure; thread-safe. The caller owns the texts, except that FileName refers to
// its argument. Text that programs chose becomes one line of UTF-8, except in
// DescribePlace and FileName. Memory: the returned text.

#ifndef FOOTPRINT_PROFILING_REPORTS_REPORT_WORDS_H_
#define FOOTPRINT_PROFILING_REPORTS_REPORT_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns a time in seconds, such as "1.500 s".
std::string Seconds(int64_t ns);

// Returns the process's command line, in at most `most` bytes.
std::string ShortCommand(const MeasuredImage& image, size_t most);

// Returns the measured command line, in at most 100 bytes.
std::string ShortProgram(const MeasuredRun& run);

// DescribePlace returns file and line, or else the object's name, as recorded.
// PlaceText returns the same as one line.
std::string DescribePlace(const CodeFrame& frame);
std::string PlaceText(const CodeFrame& frame);

// Returns the last part of a path.
absl::string_view FileName(absl::string_view path);

// Returns when the run began, in nanoseconds of the clock of its images; 0 if
// it has no image.
int64_t BeginTimeNs(const MeasuredRun& run);

// Returns the names of a stage and the stages around it, the outermost first:
// "fit / epoch". Names at most 8 stages, and returns "outside of stages" for
// stage 0 or one that the image does not have.
std::string StageName(const MeasuredImage& image, size_t stage);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_REPORT_WORDS_H_
