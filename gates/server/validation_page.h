// Returns the web page of the validation server, which shows submission,
// progress, verdict, profile, history and comparison. It is one file that loads
// nothing else.
//
//   options.page = ValidationPage();
//   options.page_policy = ValidationPagePolicy();
//
// It talks to the server that it was loaded from, with a token that the user
// enters and that the browser forgets when the tab is closed.
//
// Pure functions, thread-safe; the caller owns the texts. Memory: about 19 KiB
// for the page, and less than 1 KiB for the policy.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_

#include <string>

namespace footprint {

// Returns the HTML of the page.
std::string ValidationPage();

// Returns the Content-Security-Policy, which allows only the page's own script
// (by its hash), style and server.
std::string ValidationPagePolicy();

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_PAGE_H_
