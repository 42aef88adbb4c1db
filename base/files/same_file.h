// Tells whether two paths name one file, so that writing one would overwrite
// the other.
//
//   if (footprint::IsSameFile(input, output)) return Refuse(output);
//
// Pure but for the file system, thread-safe, without heap memory.

#ifndef FOOTPRINT_BASE_FILES_SAME_FILE_H_
#define FOOTPRINT_BASE_FILES_SAME_FILE_H_

#include <string>

namespace footprint {

// Returns whether two paths name one file, through links, too; for paths where
// nothing is yet, whether they would. False where the system does not tell.
bool IsSameFile(const std::string& one, const std::string& other);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SAME_FILE_H_
