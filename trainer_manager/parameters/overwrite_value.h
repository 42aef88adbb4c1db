// Overwrites a value in a weight file, so that tests have files which
// SaveParameters refuses to write.
//
//   ASSERT_THAT(SaveParameters(*parameters, path), IsOk());
//   footprint::OverwriteValue(path, "fc.weight", 3, NAN);
//
// For tests. Allocates the file's index and frees it.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_OVERWRITE_VALUE_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_OVERWRITE_VALUE_H_

#include <cstdint>
#include <string>

namespace footprint {

// Fails the test if there is no such file, or if it has no such tensor.
void OverwriteValue(const std::string& path, const std::string& tensor,
                    int64_t place, float value);

}  // namespace footprint

// Tested by parameter_file_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_OVERWRITE_VALUE_H_
