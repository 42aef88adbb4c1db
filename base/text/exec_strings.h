// Converts strings for the exec family: pointers, ended by a null pointer.
//
//   std::vector<std::string> arguments = {"ls", "-l"};
//   std::vector<char*> pointers = ExecStrings(arguments);
//   execvp(pointers[0], pointers.data());
//
// The pointers point into `strings`, which must not change while they are used.
// Thread-safe. Memory: 8 bytes per string.

#ifndef FOOTPRINT_BASE_TEXT_EXEC_STRINGS_H_
#define FOOTPRINT_BASE_TEXT_EXEC_STRINGS_H_

#include <string>
#include <vector>

namespace footprint {

// Returns a pointer to each string, and a null pointer at the end.
std::vector<char*> ExecStrings(const std::vector<std::string>& strings);

// Deleted, since the pointers would outlive a temporary.
std::vector<char*> ExecStrings(std::vector<std::string>&& strings) = delete;

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_EXEC_STRINGS_H_
