#include "footprint/base/memory/resident_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace footprint {
namespace {

// Adds what a line of the file says, such as "VmHWM:     2048 kB".
void AddLine(const char* line, ResidentBytes* resident) {
  const struct {
    const char* key;
    int64_t* bytes;
  } values[] = {
      {"VmHWM:", &resident->peak_bytes},
      {"VmRSS:", &resident->now_bytes},
      {"RssAnon:", &resident->anonymous_bytes},
      {"RssFile:", &resident->file_bytes},
      {"VmSize:", &resident->mapped_bytes},
  };
  for (const auto& [key, bytes] : values) {
    const size_t length = std::strlen(key);
    if (std::strncmp(line, key, length) != 0) continue;
    *bytes = std::strtoll(line + length, nullptr, 10) * 1024;
  }
}

}  // namespace

ResidentBytes ReadResidentBytes() {
  ResidentBytes resident;
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return resident;
  // The buffer is small, because a thread may have 16 KiB of stack. A longer
  // line, such as a list of many groups, comes in pieces, and none of them
  // begins with a key.
  char text[1024];
  size_t size = 0;
  ssize_t taken;
  while ((taken = read(file, text + size, sizeof(text) - 1 - size)) > 0) {
    size += static_cast<size_t>(taken);
    text[size] = '\0';
    char* line = text;
    while (char* const end = std::strchr(line, '\n')) {
      *end = '\0';
      AddLine(line, &resident);
      line = end + 1;
    }
    size = line == text && size == sizeof(text) - 1 ? 0 : std::strlen(line);
    std::memmove(text, line, size);
  }
  close(file);
  return resident;
}

}  // namespace footprint
