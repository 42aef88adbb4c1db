// Writes the difference of two sets of profiles for a terminal and for
// programs.
//
//   std::fputs(WriteDiffText(diff, options).c_str(), stdout);
//   std::string json = WriteDiffJson(diff);
//
// Growth is rounded, followed by the exact bytes. Lines are no wider than
// `options.width`. Pure functions, thread-safe.

#ifndef FOOTPRINT_GATES_EXPLAINING_DIFF_TEXT_H_
#define FOOTPRINT_GATES_EXPLAINING_DIFF_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "footprint/base/report/report_text.h"
#include "footprint/gates/explaining/profile_diff.h"

namespace footprint {

// Returns a tree, and a last line that begins with "same" or "differs".
std::string WriteDiffText(const ProfileDiff& diff,
                          const ReportTextOptions& options);

// Returns one object: {"deployments": [{"name", "presence", "changes",
// "children", "notes"}], "same_deployments"}; a figure that is unknown is null.
std::string WriteDiffJson(const ProfileDiff& diff);

// Returns "peak live +1.00 MiB (+1,048,576 B, +50.0 %): 2,097,152 B ->
// 3,145,728 B".
std::string DescribeChange(const DiffNode& node, const MetricChange& change);

// Returns the lines of a node and of all nodes in it, indented by at least
// `indent`.
std::vector<std::string> DiffLines(const DiffNode& node, size_t indent);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_DIFF_TEXT_H_
