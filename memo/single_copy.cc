#include "footprint/memo/single_copy.h"

#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace footprint::memo_internal {
namespace {

// Tells whether this copy is in use. The note below refers to it by this
// assembler name, which stays local to this file.
std::atomic<bool> is_in_use __asm__("footprint_memo_is_in_use")
    __attribute__((used));

constexpr char kOwner[] = "Footprint memo";
constexpr uint32_t kType = 1;

}  // namespace

// The note holds the owner (15 bytes and one of padding) and the distance from
// there to the flag.
__asm__(
    ".pushsection .note.footprint_memo,\"a\",%note\n"
    ".balign 4\n"
    ".long 15, 8, 1\n"
    ".asciz \"Footprint memo\"\n"
    ".balign 4\n"
    ".quad footprint_memo_is_in_use - .\n"
    ".popsection\n");

namespace {

// Looks for the flag of another copy in use.
struct Search {
  const char* path = nullptr;  // path of the file that has it
};

size_t RoundUp(size_t size) { return (size + 3) / 4 * 4; }

// Reads one note and returns its length.
size_t LookAtNote(const char* bytes, const dl_phdr_info& file, Search* search) {
  ElfW(Nhdr) note;
  std::memcpy(&note, bytes, sizeof(note));
  const char* const owner = bytes + sizeof(note);
  const char* const description = owner + RoundUp(note.n_namesz);
  if (note.n_type == kType && note.n_namesz == sizeof(kOwner) &&
      note.n_descsz == sizeof(int64_t) &&
      std::memcmp(owner, kOwner, sizeof(kOwner)) == 0) {
    int64_t distance = 0;
    std::memcpy(&distance, description, sizeof(distance));
    const auto* const flag =
        reinterpret_cast<const std::atomic<bool>*>(description + distance);
    if (flag != &is_in_use && flag->load()) search->path = file.dlpi_name;
  }
  return sizeof(note) + RoundUp(note.n_namesz) + RoundUp(note.n_descsz);
}

int LookAtFile(dl_phdr_info* file, size_t /*size*/, void* search) {
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file->dlpi_phdr[i];
    // Notes with eight-byte alignment have another format; this library writes
    // none.
    if (segment.p_type != PT_NOTE || segment.p_align > 4) continue;
    const auto* bytes =
        reinterpret_cast<const char*>(file->dlpi_addr + segment.p_vaddr);
    const char* const end = bytes + segment.p_memsz;
    while (bytes + sizeof(ElfW(Nhdr)) <= end) {
      bytes += LookAtNote(bytes, *file, static_cast<Search*>(search));
    }
  }
  return 0;
}

const char* Find() {
  Search search;
  dl_iterate_phdr(LookAtFile, &search);
  if (search.path == nullptr) is_in_use.store(true);
  return search.path;
}

}  // namespace

const char* FindOtherCopyInUse() {
  static const char* const path = Find();
  return path;
}

}  // namespace footprint::memo_internal
