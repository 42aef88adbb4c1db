// Parses the command lines of Footprint's gate programs: "--name=value",
// "--name", and words.
//
//   absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
//       arguments, {"format", "output"}, {"help"});
//   if (!flags.ok()) ...            // the mistake, and the nearest name
//   flags->Value("format", "text");
//
// Unlike a general flag library it never exits: the exit status of a gate has a
// meaning, so the caller decides.
//
// Keeps copies of the arguments. Thread-safe once parsed. Memory: linear in the
// command line.

#ifndef FOOTPRINT_GATES_COMMANDS_COMMAND_FLAGS_H_
#define FOOTPRINT_GATES_COMMANDS_COMMAND_FLAGS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

class CommandFlags {
 public:
  // Flags in `valued` take a value, and those in `plain` take none; up to
  // `most_words` other arguments are allowed. Returns kInvalidArgument for
  // anything else.
  static absl::StatusOr<CommandFlags> Parse(
      const std::vector<std::string>& arguments,
      const std::vector<std::string>& valued,
      const std::vector<std::string>& plain, size_t most_words = 0);

  bool Has(const std::string& name) const { return values_.count(name) > 0; }
  // Returns the last value of the flag, or `otherwise`.
  std::string Value(const std::string& name,
                    const std::string& otherwise) const;
  // Returns all values of the flag, in order.
  std::vector<std::string> Values(const std::string& name) const;
  // Returns the arguments that are not flags, in order.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> words_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_COMMANDS_COMMAND_FLAGS_H_
