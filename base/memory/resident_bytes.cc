#include "footprint/base/memory/resident_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace footprint {
namespace {

// Returns the number of KiB after `key`, in bytes; 0 if there is none.
int64_t BytesOfLine(const char* text, const char* key) {
  const char* const line = std::strstr(text, key);
  return line == nullptr
             ? 0
             : std::strtoll(line + std::strlen(key), nullptr, 10) * 1024;
}

}  // namespace

ResidentBytes ReadResidentBytes() {
  ResidentBytes resident;
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return resident;
  char text[8192];  // the file has less than 2,000 bytes
  size_t size = 0;
  ssize_t taken = 0;
  do {
    size += static_cast<size_t>(taken);
    taken = read(file, text + size, sizeof(text) - 1 - size);
  } while (taken > 0);
  close(file);
  text[size] = '\0';
  resident.peak_bytes = BytesOfLine(text, "\nVmHWM:");
  resident.now_bytes = BytesOfLine(text, "\nVmRSS:");
  resident.anonymous_bytes = BytesOfLine(text, "\nRssAnon:");
  resident.file_bytes = BytesOfLine(text, "\nRssFile:");
  resident.mapped_bytes = BytesOfLine(text, "\nVmSize:");
  return resident;
}

}  // namespace footprint
