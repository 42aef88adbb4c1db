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

// Of files that are there, through links, too; of two that are not there yet,
// if they would be one. False where the system does not tell.
bool IsSameFile(const std::string& one, const std::string& other);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SAME_FILE_H_
