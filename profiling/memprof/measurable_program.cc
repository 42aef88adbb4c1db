#include "footprint/profiling/memprof/measurable_program.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

// The kernel follows at most four scripts in turn.
constexpr int kMaxScripts = 4;

absl::Status Refused(absl::string_view path, absl::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, " cannot be measured: ", reason));
}

absl::StatusOr<std::string> FindInPath(const std::string& name) {
  if (absl::StrContains(name, '/')) return name;
  const char* const folders = std::getenv("PATH");
  for (absl::string_view folder :
       absl::StrSplit(folders == nullptr ? "/usr/bin:/bin" : folders, ':')) {
    std::string path = absl::StrCat(folder.empty() ? "." : folder, "/", name);
    struct stat status;
    if (access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      return path;
    }
  }
  return absl::NotFoundError(absl::StrCat(
      name, " is in no folder of PATH; give its path, as in ./", name));
}

absl::Status CheckFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return FileError(errno, path, "cannot be run");
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a program, but a folder or a device"));
  }
  if (access(path.c_str(), X_OK) != 0) {
    return FileError(errno, path, "cannot be run",
                     "chmod +x makes it a program");
  }
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return Refused(
        path,
        "it runs as another user or group (set-uid), so the system "
        "ignores what is preloaded; measure a copy without that bit");
  }
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return Refused(path,
                   "it has capabilities of its own, so the system ignores what "
                   "is preloaded; measure a copy (cp drops them)");
  }
  return absl::OkStatus();
}

// The parts of an ELF file that say how it is loaded. Offsets come from the
// file, so each is checked before it is used.
class ElfFile {
 public:
  explicit ElfFile(absl::string_view bytes) : bytes_(bytes) {}

  bool IsElf() const { return absl::StartsWith(bytes_, ELFMAG); }

  bool IsOfThisMachine() const {
    const Elf64_Ehdr* header = At<Elf64_Ehdr>(0);
    return header != nullptr && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_machine == kMachine;
  }

  bool HasLoader() const { return Segment(PT_INTERP) != nullptr; }

  // Returns the path of the program's loader.
  absl::string_view Loader() const {
    const Elf64_Phdr* const segment = Segment(PT_INTERP);
    if (segment == nullptr || segment->p_offset > bytes_.size()) return "";
    const absl::string_view path =
        bytes_.substr(segment->p_offset, segment->p_filesz);
    return path.substr(0, path.find('\0'));
  }

  // Returns whether the name is among those that the loader binds.
  bool Names(absl::string_view name) const {
    const uint64_t begin = FindOffset(DynamicValue(DT_STRTAB));
    if (begin >= bytes_.size()) return false;
    return absl::StrContains(bytes_.substr(begin, DynamicValue(DT_STRSZ)),
                             absl::StrCat(absl::string_view("\0", 1), name,
                                          absl::string_view("\0", 1)));
  }

  // Returns whether a library with that prefix is needed.
  bool Needs(absl::string_view prefix) const {
    const uint64_t names = FindOffset(DynamicValue(DT_STRTAB));
    for (uint64_t i = 0; const Elf64_Dyn* each = DynamicEntry(i); ++i) {
      if (each->d_tag != DT_NEEDED) continue;
      const uint64_t name = names + each->d_un.d_val;
      if (name < bytes_.size() &&
          absl::StartsWith(bytes_.substr(name), prefix)) {
        return true;
      }
    }
    return false;
  }

 private:
#if defined(__x86_64__)
  static constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
  static constexpr int kMachine = EM_AARCH64;
#endif

  template <typename T>
  const T* At(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T) ||
        offset % alignof(T) != 0) {
      return nullptr;
    }
    return reinterpret_cast<const T*>(bytes_.data() + offset);
  }

  const Elf64_Phdr* Segment(uint32_t type) const {
    const Elf64_Ehdr* const header = At<Elf64_Ehdr>(0);
    for (int i = 0; header != nullptr && i < header->e_phnum; ++i) {
      const Elf64_Phdr* const segment =
          At<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (segment != nullptr && segment->p_type == type) return segment;
    }
    return nullptr;
  }

  // Returns null behind the last entry.
  const Elf64_Dyn* DynamicEntry(uint64_t i) const {
    const Elf64_Phdr* const dynamic = Segment(PT_DYNAMIC);
    return dynamic != nullptr && i * sizeof(Elf64_Dyn) < dynamic->p_filesz
               ? At<Elf64_Dyn>(dynamic->p_offset + i * sizeof(Elf64_Dyn))
               : nullptr;
  }

  // Returns 0 if there is no such entry.
  uint64_t DynamicValue(int64_t tag) const {
    for (uint64_t i = 0; const Elf64_Dyn* each = DynamicEntry(i); ++i) {
      if (each->d_tag == tag) return each->d_un.d_val;
    }
    return 0;
  }

  uint64_t FindOffset(uint64_t address) const {
    const Elf64_Ehdr* const header = At<Elf64_Ehdr>(0);
    for (int i = 0; i < header->e_phnum; ++i) {
      const Elf64_Phdr* const segment =
          At<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (segment != nullptr && segment->p_type == PT_LOAD &&
          address >= segment->p_vaddr &&
          address - segment->p_vaddr < segment->p_filesz) {
        return segment->p_offset + (address - segment->p_vaddr);
      }
    }
    return bytes_.size();
  }

  absl::string_view bytes_;
};

absl::Status CheckElf(const std::string& path, const ElfFile& elf) {
  if (!elf.IsOfThisMachine()) {
    return Refused(
        path,
        "its ELF header is damaged, or it is built for another processor "
        "than this one");
  }
  if (!elf.HasLoader()) {
    return Refused(path,
                   "it is linked statically, so nothing can be preloaded; link "
                   "it dynamically, or with //profiling:exact_heap");
  }
  // A sanitizer's runtime is a library, or linked into the program, as clang
  // does it.
  for (absl::string_view sanitizer : {"asan", "tsan", "lsan", "hwasan"}) {
    if (elf.Needs(absl::StrCat("lib", sanitizer, ".")) ||
        elf.Names(absl::StrCat("__", sanitizer, "_init"))) {
      return Refused(path,
                     absl::StrCat("it is built with a sanitizer (", sanitizer,
                                  "), whose malloc must come first; "
                                  "build it without -fsanitize"));
    }
  }
  if (elf.Needs("libc.musl") || absl::StrContains(elf.Loader(), "ld-musl")) {
    return Refused(path, "it uses musl, and the agent needs glibc");
  }
  return absl::OkStatus();
}

// Returns the word after "#!", or "" if it is not a script.
absl::string_view Interpreter(absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, "#!")) return "";
  bytes = bytes.substr(0, bytes.find('\n'));
  const std::vector<absl::string_view> words =
      absl::StrSplit(bytes, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  return words.empty() ? "" : words[0];
}

}  // namespace

absl::StatusOr<std::string> FindMeasurableProgram(const std::string& name) {
  absl::StatusOr<std::string> path = FindInPath(name);
  if (!path.ok()) return path.status();
  std::string file = *path;
  for (int scripts = 0; scripts <= kMaxScripts; ++scripts) {
    absl::Status status = CheckFile(file);
    if (!status.ok()) return status;
    absl::StatusOr<std::string> bytes = ReadWholeFile(file);
    if (!bytes.ok()) return bytes.status();
    const ElfFile elf(*bytes);
    if (elf.IsElf()) {
      status = CheckElf(file, elf);
      if (!status.ok()) return status;
      return *path;
    }
    const absl::string_view interpreter = Interpreter(*bytes);
    if (interpreter.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          file,
          " is neither a program nor a script that begins with #!; name "
          "the interpreter, as in: memprof sh ",
          file));
    }
    file = std::string(interpreter);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(*path, " is a script of a script of a script: too deep"));
}

}  // namespace footprint
