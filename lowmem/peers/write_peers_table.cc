// Writes the table of lowmem_peers in a format, on standard output:
//
//   write_peers_table text|markdown|svg|html peers.json
//
// Exit codes are those of command_line.h.

#include <stdio.h>

#include <string>
#include <vector>

#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/peers/peers_report.h"
#include "footprint/lowmem/programs/command_line.h"

namespace footprint {
namespace {

using lowmem_internal::ExitCode;

struct Writer {
  const char* format;
  std::string (*write)(const PeersTable& table);
};
constexpr Writer kWriters[] = {{"text", PeersText},
                               {"markdown", PeersMarkdown},
                               {"svg", PeersSvg},
                               {"html", PeersPage}};

int Fail(ExitCode code, const absl::Status& status) {
  return lowmem_internal::Fail("write_peers_table", code, status);
}

int Main(const std::vector<char*>& arguments) {
  if (arguments.size() != 3) {
    return Fail(ExitCode::kWrongUsage,
                absl::InvalidArgumentError(absl::StrCat(
                    "takes a format and one file, got ", arguments.size() - 1,
                    " arguments; see --help")));
  }
  const std::string format = arguments[1];
  for (const Writer& writer : kWriters) {
    if (writer.format != format) continue;
    const auto text = ReadWholeFile(arguments[2]);
    if (!text.ok()) return Fail(ExitCode::kFailed, text.status());
    const auto table = ReadPeersTable(*text);
    if (!table.ok()) {
      return Fail(ExitCode::kFailed,
                  absl::InvalidArgumentError(absl::StrCat(
                      arguments[2], ": ", table.status().message())));
    }
    const std::string written = writer.write(*table);
    fwrite(written.data(), 1, written.size(), stdout);
    return lowmem_internal::Finish("write_peers_table");
  }
  return Fail(ExitCode::kWrongUsage,
              absl::InvalidArgumentError(
                  absl::StrCat("no format \"", format,
                               "\"; there are text, markdown, svg and html")));
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "write_peers_table text|markdown|svg|html peers.json\n"
      "Writes the table that lowmem_peers measured in another format.");
  return footprint::Main(footprint::lowmem_internal::ParseFlags(argc, argv));
}
