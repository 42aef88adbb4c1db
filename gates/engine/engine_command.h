// The command of `serve --engine`: words with placeholders for one trial.
//
//   absl::StatusOr<EngineCommand> command = EngineCommand::Parse(
//       "srun --mem={limit} try --bundle={bundle} --order={order} "
//       "--result={result} --key=/etc/footprint/key", "/home/ci");
//   if (!command.ok()) return command.status();
//   std::vector<std::string> words =
//       command->Fill({{"bundle", "/shared/17/bundle"}, ...});
//
// The text is split into words as a shell splits it, by blanks and line feeds,
// with 'single' and "double" quotes and backslashes, but no shell reads it and
// nothing is expanded. An unquoted character that a shell would act on, such as
// > or |, is therefore a mistake, and so is $ between double quotes. A
// placeholder is replaced wherever it stands; its value is never split into
// words.
//
// Owns its words. Thread-safe once parsed. Memory: linear in the text.

#ifndef FOOTPRINT_GATES_ENGINE_ENGINE_COMMAND_H_
#define FOOTPRINT_GATES_ENGINE_ENGINE_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

class EngineCommand {
 public:
  // Returns InvalidArgument, with the next step, if the text cannot be split,
  // has an unknown placeholder or lacks {bundle}, {order} or {result}, or if
  // its first word is no program that can be run. A name without a slash is
  // looked for in PATH, and a relative path below `folder`.
  static absl::StatusOr<EngineCommand> Parse(absl::string_view text,
                                             const std::string& folder);

  // Returns whether a word has the placeholder, which is named without braces.
  bool Uses(absl::string_view placeholder) const;

  // Returns the words; the first is the program's absolute path. `values` has a
  // value for each of Placeholders().
  std::vector<std::string> Fill(
      const std::map<std::string, std::string>& values) const;

  // Returns the names of all placeholders: bundle, limit, order, result,
  // seconds, trial.
  static const std::vector<std::string>& Placeholders();

 private:
  std::vector<std::string> words_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_ENGINE_COMMAND_H_
