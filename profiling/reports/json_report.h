// Writes a run as JSON, for programs to read.
//
//   absl::Status status =
//       ReplaceFile("run.json", JsonReport(run), ToDisk::kFlush);
//
// It holds the whole run, with the names that measured_run.proto gives and
// explains; bytes and nanoseconds are numbers. It differs from the message as
// follows:
//
//   {"program": ["python3", "train.py"], "exit_status": 0,
//    "wall_time_ns": ..., "peak_resident_sum_bytes": ..., "machine": {...},
//    "frames": [{"kind": "NATIVE", "function": ..., "file": ..., ...}],
//    "calls": [{"parent": 0, "frame": 3}],
//    "processes": [{                      // the message's images
//      "process_id": ..., "peak_live_bytes": ...,
//      "own_peak_bytes": ...,             // a fork's bytes above its parent's
//      "is_running": false,
//      "stacks": [{"call": 7, "at_peak": {"bytes": ...}}],  // its sites
//      "sites": [{                        // the stacks, by place in the code
//        "function": ..., "file": ..., "line": ..., "module": ...,
//        "kind": ..., "at_peak_bytes": ..., "at_peak_count": ...,
//        "at_peak_sigma_bytes": ...,      // only if it is an estimate
//        "at_end_bytes": ..., "allocated_bytes": ...,
//        "allocation_count": ..., "temporary_count": ...}],
//      "timeline": [[time_ns, live_bytes, stage], ...]}],
//    "report": {...}}    // the tables of the text report (report_json.h)
//
// "sites" are sorted by their bytes at the peak, and add up to "stacks". A
// signal's number replaces the exit status if a signal ended the program.
// "sites", "stacks" and "timeline" are left out if call sites were not
// recorded, and so are the totals of a process whose end nobody saw
// ("has_totals": false).
//
// Pure; thread-safe. Memory: a few times the text.

#ifndef FOOTPRINT_PROFILING_REPORTS_JSON_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_JSON_REPORT_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

std::string JsonReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_JSON_REPORT_H_
