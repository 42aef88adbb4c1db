// The scripts of a page's pictures, from flame_graph.js and timeline.js.
//
//   absl::StrAppend(&script, "<script>", kFlameGraphScript, "</script>\n");
//
// Constants of the program, 20 KiB of memory together; thread-safe.

#ifndef FOOTPRINT_BASE_PAGE_PAGE_SCRIPTS_H_
#define FOOTPRINT_BASE_PAGE_PAGE_SCRIPTS_H_

namespace footprint::page_internal {

extern const char kFlameGraphScript[];
extern const char kTimelineScript[];

}  // namespace footprint::page_internal

// Tested by flame_graph_test, timeline_test and, in a browser,
// //profiling/run_page:browser_test.

#endif  // FOOTPRINT_BASE_PAGE_PAGE_SCRIPTS_H_
