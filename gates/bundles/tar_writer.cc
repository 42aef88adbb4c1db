#include "footprint/gates/bundles/tar_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/read_write.h"

namespace footprint {
namespace {

constexpr int64_t kBlockBytes = 64 << 10;

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

// Takes the archive's bytes from libarchive.
struct TarOutput {
  static la_ssize_t Write(archive* writer, void* client, const void* bytes,
                          size_t size) {
    TarWriter* const self = static_cast<TarWriter*>(client);
    self->output_status_ = self->file_.Append(
        absl::string_view(static_cast<const char*>(bytes), size));
    self->archive_bytes_ += static_cast<int64_t>(size);
    if (self->output_status_.ok()) return static_cast<la_ssize_t>(size);
    archive_set_error(writer, EIO, "cannot be written");
    return -1;
  }
};

absl::Status OfHost(const absl::Status& status) {
  return absl::IsResourceExhausted(status)
             ? absl::AbortedError(status.message())
             : status;
}

void TarWriter::FreeWriter::operator()(archive* writer) const {
  archive_write_free(writer);
}

absl::StatusOr<std::unique_ptr<TarWriter>> TarWriter::Create(
    const std::string& path, Filter filter) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return OfHost(file.status());
  std::unique_ptr<TarWriter> made(new TarWriter(*std::move(file)));
  const absl::Status status = made->Open(filter);
  if (!status.ok()) return status;
  return made;
}

absl::Status TarWriter::Open(Filter filter) {
  writer_.reset(archive_write_new());
  if (writer_ == nullptr) return absl::AbortedError("no memory");
  if (archive_write_set_format_pax_restricted(writer_.get()) != ARCHIVE_OK ||
      archive_write_set_options(writer_.get(), "hdrcharset=BINARY") !=
          ARCHIVE_OK ||
      (filter == Filter::kZstd &&
       archive_write_add_filter_zstd(writer_.get()) != ARCHIVE_OK) ||
      archive_write_set_bytes_in_last_block(writer_.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer_.get(), this, nullptr, TarOutput::Write,
                         nullptr) != ARCHIVE_OK) {
    return absl::InternalError(
        absl::StrCat("libarchive: ", DescribeArchiveError(writer_.get())));
  }
  return absl::OkStatus();
}

absl::Status TarWriter::AddHeader(const std::string& name, bool is_executable,
                                  int64_t size_bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), is_executable ? 0755 : 0644);
  archive_entry_set_size(entry.get(), size_bytes);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer_.get(), entry.get()) == ARCHIVE_OK) {
    return absl::OkStatus();
  }
  return OutputErrorOr(absl::UnavailableError(
      absl::StrCat(name, ": ", DescribeArchiveError(writer_.get()))));
}

absl::Status TarWriter::Write(absl::string_view bytes,
                              absl::string_view source) {
  if (archive_write_data(writer_.get(), bytes.data(), bytes.size()) ==
      static_cast<la_ssize_t>(bytes.size())) {
    return absl::OkStatus();
  }
  return OutputErrorOr(absl::AbortedError(
      absl::StrCat(source, ": ", DescribeArchiveError(writer_.get()))));
}

absl::Status TarWriter::AddFile(const std::string& name, bool is_executable,
                                const FilePart& part, absl::string_view source,
                                Sha256* hash) {
  absl::Status status = AddHeader(name, is_executable, part.size_bytes);
  std::vector<char> block(static_cast<size_t>(kBlockBytes));
  for (int64_t at = 0; status.ok() && at < part.size_bytes;) {
    const int64_t wanted = std::min(part.size_bytes - at, kBlockBytes);
    if (ReadAt(part.descriptor, part.offset_bytes + at, wanted, block.data()) !=
        wanted) {
      return absl::UnavailableError(
          absl::StrCat(source, ": changed or cannot be read"));
    }
    const absl::string_view bytes(block.data(), static_cast<size_t>(wanted));
    if (hash != nullptr) hash->Add(bytes);
    status = Write(bytes, source);
    at += wanted;
    file_bytes_ += wanted;
    if (status.ok() && watcher_) status = watcher_(file_bytes_, archive_bytes_);
  }
  return status;
}

absl::Status TarWriter::AddBytes(const std::string& name,
                                 absl::string_view bytes) {
  const absl::Status status =
      AddHeader(name, false, static_cast<int64_t>(bytes.size()));
  return status.ok() ? Write(bytes, name) : status;
}

absl::Status TarWriter::OutputErrorOr(const absl::Status& status) const {
  return OfHost(output_status_.ok() ? status : output_status_);
}

absl::Status TarWriter::Commit() {
  if (archive_write_close(writer_.get()) != ARCHIVE_OK) {
    return OutputErrorOr(
        absl::InternalError(DescribeArchiveError(writer_.get())));
  }
  return OfHost(file_.Commit());
}

}  // namespace footprint
