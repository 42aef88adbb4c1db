// The web page of the validation server: submit, watch, verdict, profile,
// history and comparison, in one file that loads nothing else.
//
//   options.page = ValidationPage();
//   options.page_policy = ValidationPagePolicy();
//
// It talks to the server that it came from, with a token that a person gives
// and that the browser forgets with the tab.
//
// Pure, thread-safe; the caller owns the texts. Memory: some 25 KiB each.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_

#include <string>

namespace footprint {

std::string ValidationPage();

// Content-Security-Policy: its own script by its hash, its own style, its own
// server, and nothing else.
std::string ValidationPagePolicy();

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_
