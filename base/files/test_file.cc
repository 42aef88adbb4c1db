#include "footprint/base/files/test_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace footprint {

std::string SafetensorsBytes(absl::string_view header, absl::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(
        static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i)));
  }
  absl::StrAppend(&bytes, header, data);
  return bytes;
}

std::string TestPath(absl::string_view name) {
  const char* folder = getenv("TEST_TMPDIR");
  return absl::StrCat(folder == nullptr ? "/tmp" : folder, "/", name);
}

std::string WriteTestFile(absl::string_view name, absl::string_view bytes) {
  const std::string path = TestPath(name);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    fprintf(stderr, "%s cannot be written\n", path.c_str());
    abort();
  }
  return path;
}

std::string ReadTestFile(absl::string_view path) {
  std::ifstream file(std::string(path), std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  if (!file) {
    fprintf(stderr, "%s cannot be read\n", std::string(path).c_str());
    abort();
  }
  return bytes.str();
}

}  // namespace footprint
