// Tells whether two paths name one file, so that writing one would overwrite
// the other.
//
//   if (footprint::IsSameFile(input, output)) return Refuse(output);
//
// Pure apart from the file system; thread-safe; without heap memory.

#ifndef FOOTPRINT_BASE_FILES_SAME_FILE_H_
#define FOOTPRINT_BASE_FILES_SAME_FILE_H_

#include <string>

namespace footprint {

// Returns whether two paths name one file, also through links. For paths that
// do not exist yet, returns whether they would name one file if it were made; a
// symbolic link that leads to no file counts by its own name. Returns false if
// the system does not say.
bool IsSameFile(const std::string& one, const std::string& other);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SAME_FILE_H_
