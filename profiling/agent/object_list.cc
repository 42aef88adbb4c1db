#include "object_list.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "footprint/profiling/agent/record_folder.h"

namespace footprint::profiling_internal {
namespace {

bool WriteLine(int file, const char* text) {
  char line[1024];
  const size_t length = strlen(text);
  if (length + 1 > sizeof(line)) return true;
  memcpy(line, text, length);
  line[length] = '\n';
  return write(file, line, length + 1) >= 0;
}

// The program itself and the kernel's object have no path in the list.
int WritePath(dl_phdr_info* info, size_t /*size*/, void* file) {
  if (info->dlpi_name[0] != '/') return 0;
  return WriteLine(*static_cast<int*>(file), info->dlpi_name) ? 0 : 1;
}

}  // namespace

void WriteObjectList(int folder, const char* name) {
  constexpr size_t kLargestListBytes = 4 << 20;
  if (!FileMayHave(kLargestListBytes)) return;
  int file =
      openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  dl_iterate_phdr(WritePath, &file);
  close(file);
}

}  // namespace footprint::profiling_internal
