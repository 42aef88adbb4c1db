// write_example_pages FOLDER: writes pages of example_runs.h, for tests that
// read them like a browser: full.html, hostile.html, large.html,
// comparison.html.

#include <iostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/run_page/comparison_page.h"
#include "footprint/profiling/run_page/run_page.h"

namespace footprint {
namespace {

constexpr char kHostile[] =
    "</script></style><script>document.title='owned'</script><img src=x "
    "onerror=\"document.title='owned'\"><!--\"'&amp;\n\t\\\x01\xff\xc3";

absl::Status WritePages(const std::string& folder) {
  absl::Status status;
  const std::pair<const char*, std::string> pages[] = {
      {"full", RunPage(FullRun())},
      {"hostile", RunPage(RunNamed(kHostile))},
      {"large", RunPage(LargeRun(20'000, /*seed=*/1))},
      {"comparison", ComparisonPage(FullRun(), FullRunLater())},
      {"hostile_comparison",
       ComparisonPage(RunNamed(kHostile), FullRunLater())},
  };
  for (const auto& [name, html] : pages) {
    status.Update(ReplaceFile(absl::StrCat(folder, "/", name, ".html"), html,
                              ToDisk::kFlush));
  }
  return status;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_example_pages FOLDER\n";
    return 2;
  }
  const absl::Status status = footprint::WritePages(argv[1]);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
