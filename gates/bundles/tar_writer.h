// Writes an archive that has the same bytes for the same files.
//
//   absl::StatusOr<std::unique_ptr<TarWriter>> archive =
//       TarWriter::Create("model.bundle", TarWriter::Filter::kZstd);
//   absl::Status status = (*archive)->AddBytes("data/table.csv", "1,2\n");
//   if (status.ok()) status = (*archive)->Commit();
//
// Times and owners are left out, and names and modes are the caller's. The file
// is written completely or not at all (atomic_file.h). Thread-compatible.
// Memory: 128 KiB, and zstd's. Time: linear. Errors: kUnavailable if a file
// cannot be read or changes meanwhile; kAborted if there is no room or no
// memory; kInternal if libarchive fails; else AtomicFile's.

#ifndef FOOTPRINT_GATES_BUNDLES_TAR_WRITER_H_
#define FOOTPRINT_GATES_BUNDLES_TAR_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/sha256.h"
#include "footprint/gates/bundles/unpacked_bytes.h"

struct archive;

namespace footprint {

// Converts kResourceExhausted to kAborted: a full disk of this host is not a
// limit that an archive exceeds.
absl::Status OfHost(const absl::Status& status);

class TarWriter {
 public:
  enum class Filter { kNone, kZstd };

  static absl::StatusOr<std::unique_ptr<TarWriter>> Create(
      const std::string& path, Filter filter);

  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  // A watcher is called after each block with the bytes of files and those of
  // the archive so far. Its error ends AddFile, which returns it.
  using Watcher =
      std::function<absl::Status(int64_t file_bytes, int64_t archive_bytes)>;
  void Watch(Watcher watcher) { watcher_ = std::move(watcher); }

  // Adds a regular file with these bytes of an open file, which messages call
  // `source`. Adds the bytes to `hash`, too, if it is not null.
  absl::Status AddFile(const std::string& name, bool is_executable,
                       const FilePart& part, absl::string_view source,
                       Sha256* hash = nullptr);
  absl::Status AddBytes(const std::string& name, absl::string_view bytes);

  // Puts the archive in place. Call it once, at the end.
  absl::Status Commit();

 private:
  friend struct TarOutput;
  struct FreeWriter {
    void operator()(archive* writer) const;
  };

  explicit TarWriter(AtomicFile file) : file_(std::move(file)) {}
  absl::Status Open(Filter filter);
  absl::Status AddHeader(const std::string& name, bool is_executable,
                         int64_t size_bytes);
  absl::Status Write(absl::string_view bytes, absl::string_view source);
  // Returns the error of the output file, or `status` if there is none.
  absl::Status OutputErrorOr(const absl::Status& status) const;

  AtomicFile file_;
  Watcher watcher_;
  int64_t file_bytes_ = 0;
  int64_t archive_bytes_ = 0;
  absl::Status output_status_;
  std::unique_ptr<archive, FreeWriter> writer_;
};

}  // namespace footprint

// Tested by bundle_test.

#endif  // FOOTPRINT_GATES_BUNDLES_TAR_WRITER_H_
