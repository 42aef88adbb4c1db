// Holds 48 MiB in the way that its argument names, and tells what it can see of
// its circumstances. It knows nothing of measurements.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern char** environ;

namespace {

constexpr size_t kBytes = size_t{48} << 20;
char static_array[kBytes];

void Touch(volatile char* bytes) {
  for (size_t i = 0; i < kBytes; i += 4096) bytes[i] = 1;
}

void HoldMapped() {
  void* const bytes = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) std::abort();
  Touch(static_cast<char*>(bytes));
}

// At its peak, long enough for somebody who looks now and then; what an exit
// would bring in besides is left out.
[[noreturn]] void StayAndEnd() {
  usleep(200000);
  _exit(0);
}

// 3 if the environment has more than every run has.
int CheckEnvironment() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool is_known = std::strncmp(*entry, "PATH=", 5) == 0 ||
                          std::strncmp(*entry, "LANG=", 5) == 0 ||
                          std::strncmp(*entry, "TZ=", 3) == 0;
    if (!is_known) return 3;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string how = argv[1];
  if (how == "static" || how == "mapped") {
    if (how == "static") Touch(static_array);
    if (how == "mapped") HoldMapped();
    StayAndEnd();
  }
  if (how == "fail") _exit(7);
  if (how == "environment") return CheckEnvironment();
  if (how == "child") {
    // Not waited for, and as quick as it can be.
    if (fork() == 0) {
      HoldMapped();
      usleep(50000);
      _exit(0);
    }
    usleep(300000);
  }
  return 0;
}
