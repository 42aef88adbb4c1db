// Prints the ids into which a model's tokenizer splits a text, or the text of
// ids.
//
//   lowmem_tokenize MODEL_DIR --text="Hello, world"
//   lowmem_tokenize MODEL_DIR --file=lines.txt      # ids of each line
//   lowmem_tokenize MODEL_DIR --ids=9707,11,1879    # the text
//
// Ids go to standard output, separated by commas, ready for lowmem_run's --ids.
// Exit codes are those of command_line.h: 0; 1 the tokenizer or the text cannot
// be read (the error says why); 2 the command line is wrong.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/programs/command_line.h"
#include "footprint/lowmem/programs/text_flag.h"
#include "footprint/lowmem/programs/text_lines.h"
#include "footprint/lowmem/text/tokenizer.h"

ABSL_FLAG(footprint::lowmem_internal::TextFlag, text, {}, "the text");
ABSL_FLAG(std::string, file, "", "a file with one text on each line");
ABSL_FLAG(bool, json, false,
          "each line of --file is a JSON string, so that a text may contain "
          "line breaks");
ABSL_FLAG(std::string, ids, "",
          "ids, separated by commas, whose text to print");
ABSL_FLAG(bool, special, true,
          "add the special ids that the tokenizer puts around a text, such as "
          "the beginning of a text; with --ids: show special words in the "
          "text");

namespace footprint {
namespace {

SpecialIds Special() {
  return absl::GetFlag(FLAGS_special) ? SpecialIds::kInclude
                                      : SpecialIds::kLeaveOut;
}

absl::Status PrintIds(const Tokenizer& tokenizer, absl::string_view text) {
  const auto ids = tokenizer.Encode(text, Special());
  if (!ids.ok()) return ids.status();
  printf("%s\n", absl::StrJoin(*ids, ",").c_str());
  return absl::OkStatus();
}

absl::Status PrintIdsOfLines(const Tokenizer& tokenizer,
                             const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.status();
  std::vector<absl::string_view> lines = absl::StrSplit(*text, '\n');
  // The text after the last line's end is empty and does not count as a line.
  if (lines.back().empty()) lines.pop_back();
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::StatusOr<std::string> line =
        lowmem_internal::ParseTextLine(lines[i], absl::GetFlag(FLAGS_json));
    const absl::Status status =
        line.ok() ? PrintIds(tokenizer, *line) : line.status();
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(path, ": line ", i + 1,
                                                      ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status PrintText(const Tokenizer& tokenizer, const std::string& list) {
  std::vector<int32_t> ids;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(part, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ids: \"", part, "\" is not a number"));
    }
    if (id < 0 || id >= tokenizer.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--ids: ", id, ", but there are ", tokenizer.size(), " words"));
    }
    ids.push_back(id);
  }
  printf("%s\n", tokenizer.Decode(ids, Special()).c_str());
  return absl::OkStatus();
}

absl::Status Run(const std::string& directory) {
  const auto tokenizer = Tokenizer::Open(directory);
  if (!tokenizer.ok()) return tokenizer.status();
  const absl::optional<std::string> text = absl::GetFlag(FLAGS_text).text;
  if (text.has_value()) return PrintIds(**tokenizer, *text);
  const std::string file = absl::GetFlag(FLAGS_file);
  if (!file.empty()) return PrintIdsOfLines(**tokenizer, file);
  return PrintText(**tokenizer, absl::GetFlag(FLAGS_ids));
}

int Main(const std::vector<char*>& arguments) {
  using lowmem_internal::ExitCode;
  constexpr char kProgram[] = "lowmem_tokenize";
  const int inputs = (absl::GetFlag(FLAGS_text).text.has_value() ? 1 : 0) +
                     (absl::GetFlag(FLAGS_file).empty() ? 0 : 1) +
                     (absl::GetFlag(FLAGS_ids).empty() ? 0 : 1);
  if (arguments.size() != 2 || inputs != 1) {
    return lowmem_internal::Fail(
        kProgram, ExitCode::kWrongUsage,
        absl::InvalidArgumentError(
            "takes one MODEL_DIR and one of --text, --file and --ids; see "
            "--help"));
  }
  const absl::Status status = Run(arguments[1]);
  return status.ok()
             ? lowmem_internal::Finish(kProgram)
             : lowmem_internal::Fail(kProgram, ExitCode::kFailed, status);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_tokenize MODEL_DIR --text=TEXT | --file=LINES | --ids=1,2,3\n"
      "Prints the ids into which a model's tokenizer splits a text, or the "
      "text of\n"
      "ids. MODEL_DIR is a folder with tokenizer.json, or a GGUF file.");
  return footprint::Main(footprint::lowmem_internal::ParseFlags(argc, argv));
}
