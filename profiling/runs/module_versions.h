// The versions of the modules and libraries that a program had loaded, on which
// its bytes depend besides its own code.
//
//   ModuleVersions(process.loaded_objects);
//   // {"numpy 1.24.2", "scikit-learn 1.2.1", "libopenblasp-r0.3.21.so"}
//
// A Python package counts if an object of its own was loaded, and has the
// version of the metadata beside it; of pure Python nothing is loaded, so such
// packages are not seen. A library counts if its file's name, all links
// resolved, has a version beyond the first number after ".so". The
// interpreter's own modules have the interpreter's version.
//
// In alphabetical order, each once. Looks at the files as they are now: to be
// asked where and when the program ran. Thread-safe. Memory: the names. Errors:
// what cannot be read has no version and is left out.

#ifndef FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_
#define FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_

#include <string>
#include <vector>

namespace footprint {

std::vector<std::string> ModuleVersions(
    const std::vector<std::string>& object_paths);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MODULE_VERSIONS_H_
