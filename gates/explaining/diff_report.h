// Makes the report of the differences of two sets of profiles.
//
//   std::cout << ReportText(MakeDiffReport(diff), options);
//
// Each deployment is a list with a row for each line of its tree: names, notes
// and figures. Growth is rounded, followed by the exact bytes. Pure functions,
// thread-safe; results own their texts. Memory: some 1,000 bytes a line.

#ifndef FOOTPRINT_GATES_EXPLAINING_DIFF_REPORT_H_
#define FOOTPRINT_GATES_EXPLAINING_DIFF_REPORT_H_

#include <string>

#include "footprint/base/report/report.h"
#include "footprint/gates/explaining/profile_diff.h"

namespace footprint {

// Returns the trees, and a summary that begins with "same" or "differs".
Report MakeDiffReport(const ProfileDiff& diff);

// Returns the tree of a node. All columns but the first are for programs: the
// kind, name and presence of the line's node and, in the line of a figure, its
// metric, its values before and after, and its growth.
ReportTable MakeDiffTable(const DiffNode& node);

// Returns "peak live +1.00 MiB (+1,048,576 B, +50.0 %): 2,097,152 B ->
// 3,145,728 B", or "peak live" and the value if only one side has the node.
std::string DescribeChange(const DiffNode& node, const MetricChange& change);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_DIFF_REPORT_H_
