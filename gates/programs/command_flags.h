// Flags of Footprint's gate programs: "--name=value" and "--name", and words.
//
//   absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
//       arguments, {"format", "output"}, {"help"});
//   if (!flags.ok()) ...            // the mistake, and the nearest name
//   flags->Value("format", "text");
//
// Unlike a general flag library it ends no process: the exit status of a gate
// has a meaning, so the caller decides.
//
// Keeps copies of the arguments. Thread-safe once parsed. Memory: linear in the
// command line.

#ifndef FOOTPRINT_GATES_PROGRAMS_COMMAND_FLAGS_H_
#define FOOTPRINT_GATES_PROGRAMS_COMMAND_FLAGS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

class CommandFlags {
 public:
  // `valued` take a value, `plain` none; up to `most_words` arguments are no
  // flags. kInvalidArgument for anything else.
  static absl::StatusOr<CommandFlags> Parse(
      const std::vector<std::string>& arguments,
      const std::vector<std::string>& valued,
      const std::vector<std::string>& plain, size_t most_words = 0);

  bool Has(const std::string& name) const { return values_.count(name) > 0; }
  // The last one given, or `otherwise`.
  std::string Value(const std::string& name,
                    const std::string& otherwise) const;
  // All that were given, in order.
  std::vector<std::string> Values(const std::string& name) const;
  // Arguments that are no flags, in order.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> words_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_COMMAND_FLAGS_H_
