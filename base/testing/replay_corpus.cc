// The main function of a fuzz target's ordinary test: calls the target with
// each given file, without a fuzzer.
//
//   safetensors_fuzz_test FILE...
//
// The exit status is 0 if the target accepted all files, 2 if no file is given
// or one cannot be read. A finding ends the process by a signal; the last line
// names the file.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Calls the target with a block of the file's size, so that a sanitizer sees a
// read beyond it.
void CallTarget(const std::string& bytes) {
  const std::unique_ptr<uint8_t[]> block(new uint8_t[bytes.size()]);
  if (!bytes.empty()) std::memcpy(block.get(), bytes.data(), bytes.size());
  LLVMFuzzerTestOneInput(block.get(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE...\n", argv[0]);
    return 2;
  }
  CallTarget("");
  for (int i = 1; i < argc; ++i) {
    std::fprintf(stderr, "%s\n", argv[i]);
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      std::fprintf(stderr, "%s cannot be read\n", argv[i]);
      return 2;
    }
    CallTarget(bytes);
  }
  std::fprintf(stderr, "%d files, no finding\n", argc - 1);
  return 0;
}
