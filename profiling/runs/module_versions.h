// Finds the versions of the modules and libraries that a program loaded, which
// its bytes depend on.
//
//   ModuleVersions(process.loaded_objects);
//   // {"libz.so.1.2.13", "numpy 1.24.2", "scikit-learn 1.2.1"}
//
// A Python package counts if one of its shared objects was loaded, with the
// version of the metadata beside it. A package of pure Python loads no object,
// so it is not found. A library outside packages counts if its file's name,
// with all links resolved, has a dot between two digits, as in "libz.so.1.2.13"
// and not in "libc.so.6". The interpreter's own modules are left out; they have
// the interpreter's version.
//
// The result is in the order of bytes, without duplicates. It reads the files
// as they are now, so call it where and when the program ran. Thread-safe.
// Memory: the names. A file that cannot be read has no version and is left out.

#ifndef FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_
#define FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_

#include <string>
#include <vector>

namespace footprint {

std::vector<std::string> ModuleVersions(
    const std::vector<std::string>& object_paths);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_
