#include "footprint/trainer_manager/parameters/overwrite_value.h"

#include <fstream>

#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {

void OverwriteValue(const std::string& path, const std::string& tensor,
                    int64_t place, float value) {
  const auto opened = SafetensorsFile::Open(path);
  ASSERT_THAT(opened, IsOk());
  const auto found = opened->index().Find(tensor);
  ASSERT_THAT(found, IsOk());
  const int64_t offset_bytes =
      (*found)->offset_bytes + place * static_cast<int64_t>(sizeof(value));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offset_bytes);
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  file.close();
  ASSERT_TRUE(file) << path;
}

}  // namespace footprint
