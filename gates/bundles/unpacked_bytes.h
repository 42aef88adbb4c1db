// Reads the bytes of a file, or of a part of it, and unpacks them if gzip or
// zstd compressed them.
//
//   UnpackedBytes bytes({"the bundle", "; make it anew"}, limits,
//                       EndOfTime(limits));
//   absl::Status status = bytes.Open({file.get(), 0, size_bytes});
//   const void* block = nullptr;
//   for (int64_t got = bytes.Next(&block); got > 0; got = bytes.Next(&block)) {
//     Use(block, got);
//   }
//   if (!bytes.status().ok()) return bytes.status();
//
// The sender may be hostile. The caller counts the bytes that it keeps
// (MostUnpackedBytes). Bytes that are compressed twice are refused, and so are
// more bytes in all than twice those that may be kept and 16 MiB.
// Thread-compatible. The file must stay open, and the limits must exist, as
// long as this object. Memory: 128 KiB, and zstd's window of at most 128 MiB.
// Time: linear. Errors: kInvalidArgument if the bytes are damaged;
// kResourceExhausted if they are too many or take too long; kCancelled if
// `limits.is_stopped` returned true; kUnavailable without memory.

#ifndef FOOTPRINT_GATES_BUNDLES_UNPACKED_BYTES_H_
#define FOOTPRINT_GATES_BUNDLES_UNPACKED_BYTES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sha256.h"
#include "footprint/gates/bundles/bundle_limits.h"

struct archive;

namespace footprint {

// How messages name the sender's archive, and what they advise.
struct ArchiveName {
  std::string what;    // "the bundle"
  std::string advice;  // "; make the bundle anew from its folder"
};

// Bytes of an open file. The file need not be at this position.
struct FilePart {
  int descriptor = -1;
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
};

using SteadyTime = std::chrono::steady_clock::time_point;

// Returns the time at which work that begins now has to end.
SteadyTime EndOfTime(const BundleLimits& limits);

// Returns Cancelled or ResourceExhausted if the work has to end now.
absl::Status CheckTime(const ArchiveName& name, const BundleLimits& limits,
                       SteadyTime end);

// Returns the most bytes to which an archive of this size may unpack.
int64_t MostUnpackedBytes(int64_t archive_bytes, const BundleLimits& limits);

// Returns what to do about an archive that unpacks to more, for the end of a
// message.
std::string ExpansionAdvice(const BundleLimits& limits);

struct FreeArchiveReader {
  void operator()(archive* reader) const;
};

// Returns the text of libarchive's last error. It may have names from the
// archive, so control characters are escaped.
std::string DescribeArchiveError(archive* reader);

class UnpackedBytes {
 public:
  UnpackedBytes(ArchiveName name, const BundleLimits& limits, SteadyTime end);
  UnpackedBytes(const UnpackedBytes&) = delete;
  UnpackedBytes& operator=(const UnpackedBytes&) = delete;

  // Makes Next compute the SHA-256 of the unpacked bytes, too. Call it before
  // Open.
  void ComputeHash() { is_hashed_ = true; }

  absl::Status Open(const FilePart& part);

  // Sets `bytes` to the next bytes, valid until the next call. Returns their
  // number, or 0 at the end, or -1 after an error, which status() has.
  int64_t Next(const void** bytes);

  // Reads the rest of a tar archive. It is complete if only zeros follow its
  // last entry, at least the two blocks of its end mark.
  absl::Status FinishTar(int64_t entries_end);

  absl::Status CheckTime() const;

  int64_t archive_bytes() const { return part_.size_bytes; }
  const absl::Status& status() const { return status_; }
  const ArchiveName& name() const { return name_; }
  // Returns the hash of all bytes. Call it once, after the end was reached.
  std::string FinishHashHex() { return hash_.FinishHex(); }

 private:
  friend struct PartReader;
  absl::Status Damaged() const;
  absl::Status CheckSize() const;

  const ArchiveName name_;
  const BundleLimits& limits_;
  const SteadyTime end_;
  std::vector<char> packed_;
  std::vector<char> block_;
  FilePart part_;
  int64_t read_bytes_ = 0;
  std::unique_ptr<archive, FreeArchiveReader> reader_;
  // The number of bytes so far, and the number up to the last byte that is not
  // zero.
  int64_t size_ = 0;
  int64_t nonzero_end_ = 0;
  absl::Status status_;
  bool is_hashed_ = false;
  Sha256 hash_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_BUNDLES_UNPACKED_BYTES_H_
