#include "footprint/gates/server/validation_page.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/gates/server/validation_page_parts.h"

namespace footprint {

std::string ValidationPage() {
  return absl::StrCat(server_internal::kPageHtml, "<script>",
                      server_internal::kPageScript, "</script>\n</body>\n",
                      "</html>\n");
}

std::string ValidationPagePolicy() {
  Sha256 script;
  script.Add(server_internal::kPageScript);
  return absl::StrCat("default-src 'none'; script-src 'sha256-",
                      absl::Base64Escape(script.Finish()),
                      "'; style-src 'unsafe-inline'; img-src data:; "
                      "connect-src 'self'; form-action 'none'; "
                      "frame-ancestors 'none'; base-uri 'none'");
}

}  // namespace footprint
