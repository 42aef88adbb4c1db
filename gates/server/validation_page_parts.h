// Holds the page's HTML and script, from validation_page.html and
// validation_page.js.
//
//   absl::StrCat(kPageHtml, "<script>", kPageScript, "</script>");
//
// Constants that live as long as the program; thread-safe. Memory: about 19 KiB
// of the program's image.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_PARTS_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_PARTS_H_

namespace footprint::server_internal {

extern const char kPageHtml[];
extern const char kPageScript[];

}  // namespace footprint::server_internal

// Tested by validation_page_test and, in a browser, by
// page_browser_test.

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_PARTS_H_
