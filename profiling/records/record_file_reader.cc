#include "footprint/profiling/records/record_file_reader.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"

namespace footprint {

RecordFileReader::RecordFileReader(const std::string& path)
    : path_(path),
      file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      open_error_(errno) {}

absl::Status RecordFileReader::ReadHead(uint64_t magic,
                                        absl::string_view content,
                                        size_t size_bytes, void* head) const {
  if (!file_.is_open())
    return FileError(open_error_, path_, "cannot be opened");
  absl::Status status = Read(0, size_bytes, head);
  if (!status.ok()) return status;
  uint64_t found;
  std::memcpy(&found, head, sizeof(found));
  if (found != magic) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": no record of ", content, " by this version's agent"));
  }
  return absl::OkStatus();
}

absl::Status RecordFileReader::Read(size_t offset_bytes, size_t size_bytes,
                                    void* bytes) const {
  return ReadFully(file_.get(), path_, static_cast<int64_t>(offset_bytes),
                   static_cast<int64_t>(size_bytes), static_cast<char*>(bytes));
}

absl::Status RecordFileReader::Damaged(absl::string_view how) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, " is damaged: ", how));
}

}  // namespace footprint
