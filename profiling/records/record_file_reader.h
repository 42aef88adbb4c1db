// Reads one of an agent's files while the agent may still write it: first its
// head, then the arrays whose lengths the head holds.
//
//   RecordFileReader file(path);
//   absl::Status status =
//       file.ReadHead(kGrowthMagic, "growth", sizeof(head), &head);
//   auto sites = file.ReadArray<GrowthRecord>(offsetof(GrowthFile, sites),
//                                             site_count, kMaxSites);
//
// Owns the open file. Thread-compatible. Memory: the path; an array is read
// into memory that the caller owns, for `count` entries. Errors: those of
// FileError, kDataLoss for a file that is cut short, and kInvalidArgument for a
// file of another version or a damaged one.

#ifndef FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_READER_H_
#define FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

class RecordFileReader {
 public:
  // Opens the file; ReadHead reports an error.
  explicit RecordFileReader(const std::string& path);

  // Reads `size_bytes` from the beginning of the file, whose first eight bytes
  // must be `magic`. Call it first, since it reports that the file could not be
  // opened. `content` names the kind of record for errors.
  absl::Status ReadHead(uint64_t magic, absl::string_view content,
                        size_t size_bytes, void* head) const;

  // Reads `size_bytes` from `offset_bytes` on.
  absl::Status Read(size_t offset_bytes, size_t size_bytes, void* bytes) const;

  // Returns `count` entries, which begin at `offset_bytes`. Returns
  // InvalidArgument if the layout has room for only `capacity` of them.
  template <typename Entry>
  absl::StatusOr<std::vector<Entry>> ReadArray(size_t offset_bytes,
                                               uint32_t count,
                                               uint32_t capacity) const {
    if (count > capacity) return Damaged("an array is longer than it can be");
    std::vector<Entry> entries(count);
    absl::Status status =
        Read(offset_bytes, count * sizeof(Entry), entries.data());
    if (!status.ok()) return status;
    return entries;
  }

  // Returns InvalidArgument that names the file and `how` it is damaged.
  absl::Status Damaged(absl::string_view how) const;

 private:
  const std::string path_;
  const FileDescriptor file_;
  const int open_error_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_READER_H_
