// Reads the entries of a tar archive, plain or compressed by gzip or zstd, from
// a sender who may be hostile.
//
//   TarReader reader({"the bundle", "; make it anew"}, limits,
//                    EndOfTime(limits));
//   absl::Status status = reader.Open({file.get(), 0, size_bytes});
//   TarEntry entry;
//   absl::StatusOr<bool> has_entry = reader.Next(&entry);
//   for (; has_entry.ok() && *has_entry; has_entry = reader.Next(&entry)) {
//     if (entry.kind == TarEntry::Kind::kFile) {
//       status = reader.ReadFile(
//           entry, [&] { return MakeFile(entry.path); },
//           [&](absl::string_view bytes) { return Keep(bytes); });
//     }
//   }
//
// Names are as the archive has them: the caller must check them. Next returns
// false only after a complete archive, of which every byte was read. Bytes
// after its end, and a missing end mark, are errors. A file whose bytes exceed
// MostUnpackedBytes together with those before is refused before any of them is
// read.
//
// Thread-compatible. The file must stay open, and the limits must exist, as
// long as this object. Memory: 256 KiB, and zstd's window of at most 128 MiB.
// Time: linear. Errors: those of UnpackedBytes (unpacked_bytes.h).

#ifndef FOOTPRINT_GATES_BUNDLES_TAR_READER_H_
#define FOOTPRINT_GATES_BUNDLES_TAR_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"

namespace footprint {

struct TarEntry {
  enum class Kind {
    kFile,
    kFolder,
    kSymbolicLink,
    kHardLink,
    kOther,  // a device or a pipe
  };
  std::string path;
  Kind kind = Kind::kOther;
  std::string link;  // target of a link
  bool is_executable = false;
  // -1: the archive does not say it.
  int64_t size_bytes = -1;
  // The offset in the unpacked archive at which a file's bytes begin.
  int64_t offset_bytes = 0;
};

class TarReader {
 public:
  using Begin = std::function<absl::Status()>;
  using TakeBytes = std::function<absl::Status(absl::string_view bytes)>;

  TarReader(ArchiveName name, const BundleLimits& limits, SteadyTime end);

  absl::Status Open(const FilePart& part);

  // Makes Next and ReadFile compute the SHA-256 of the unpacked archive, too.
  // Call it before Open.
  void ComputeHash() { bytes_.ComputeHash(); }
  // Returns the hash. Call it once, after Next has returned false.
  std::string FinishHashHex() { return bytes_.FinishHashHex(); }

  // Reads the next entry. Returns false if there is none.
  absl::StatusOr<bool> Next(TarEntry* entry);

  // Reads the bytes of the entry that Next has just set, which is a file. Calls
  // `begin` once its size was found to be within the limits, and then `take`
  // for each piece. An error of either ends it.
  absl::Status ReadFile(const TarEntry& entry, const Begin& begin,
                        const TakeBytes& take);

  int64_t unpacked_bytes() const { return unpacked_bytes_; }

 private:
  absl::Status Damaged(absl::string_view path) const;
  absl::Status CountBytes(const TarEntry& entry);

  const BundleLimits& limits_;
  std::vector<char> block_;
  UnpackedBytes bytes_;
  std::unique_ptr<archive, FreeArchiveReader> reader_;
  int64_t entries_end_ = 0;
  bool has_entry_ = false;
  int64_t unpacked_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_BUNDLES_TAR_READER_H_
