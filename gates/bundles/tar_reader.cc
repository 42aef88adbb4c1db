#include "footprint/gates/bundles/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr int64_t kTarBlockBytes = 512;

// Makes this thread's locale UTF-8. Names in pax headers are UTF-8, and
// libarchive converts them to the locale: in "C" it refuses any other letter
// than ASCII's.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(Utf8())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  // Returns 0, which changes nothing, if the system has no such locale.
  static locale_t Utf8() {
    static const locale_t locale =
        newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
    return locale;
  }

  const locale_t before_;
};

la_ssize_t ReadUnpacked(archive* /*reader*/, void* client, const void** bytes) {
  return static_cast<UnpackedBytes*>(client)->Next(bytes);
}

TarEntry::Kind KindOf(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) {
    return TarEntry::Kind::kHardLink;
  }
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return archive_entry_symlink(entry) == nullptr
                 ? TarEntry::Kind::kFile
                 : TarEntry::Kind::kSymbolicLink;
    case AE_IFDIR:
      return TarEntry::Kind::kFolder;
    case AE_IFLNK:
      return TarEntry::Kind::kSymbolicLink;
    default:
      return TarEntry::Kind::kOther;
  }
}

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

TarReader::TarReader(ArchiveName name, const BundleLimits& limits,
                     SteadyTime end)
    : limits_(limits),
      block_(kBlockBytes),
      bytes_(std::move(name), limits, end) {}

absl::Status TarReader::Open(const FilePart& part) {
  const absl::Status opened = bytes_.Open(part);
  if (!opened.ok()) return opened;
  reader_.reset(archive_read_new());
  if (reader_ == nullptr) return absl::UnavailableError("no memory");
  archive_read_support_filter_none(reader_.get());
  archive_read_support_format_tar(reader_.get());
  if (archive_read_open(reader_.get(), &bytes_, nullptr, ReadUnpacked,
                        nullptr) != ARCHIVE_OK) {
    return Damaged("");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TarReader::Next(TarEntry* entry) {
  // An entry's bytes end at a block's border.
  if (has_entry_) {
    if (archive_read_data_skip(reader_.get()) != ARCHIVE_OK) return Damaged("");
    const int64_t at = archive_filter_bytes(reader_.get(), 0);
    entries_end_ = (at + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
  }
  const Utf8Locale locale;
  archive_entry* header = nullptr;
  const int code = archive_read_next_header(reader_.get(), &header);
  if (code == ARCHIVE_EOF) {
    const absl::Status finished = bytes_.FinishTar(entries_end_);
    if (!finished.ok()) return finished;
    return false;
  }
  if (code != ARCHIVE_OK) return Damaged("");
  const absl::Status time = bytes_.CheckTime();
  if (!time.ok()) return time;
  has_entry_ = true;
  const char* name = archive_entry_pathname(header);
  if (name == nullptr) name = archive_entry_pathname_utf8(header);
  if (name == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes_.name().what, " holds a name not in UTF-8"));
  }
  entry->path = name;
  entry->kind = KindOf(header);
  entry->link = entry->kind == TarEntry::Kind::kHardLink
                    ? TextOf(archive_entry_hardlink(header))
                    : TextOf(archive_entry_symlink(header));
  entry->is_executable = (archive_entry_perm(header) & 0111) != 0;
  entry->size_bytes =
      archive_entry_size_is_set(header) ? archive_entry_size(header) : -1;
  entry->offset_bytes = archive_filter_bytes(reader_.get(), 0);
  return true;
}

absl::Status TarReader::ReadFile(const TarEntry& entry, const Begin& begin,
                                 const TakeBytes& take) {
  if (entry.size_bytes < 0) return Damaged(entry.path);
  absl::Status status = CountBytes(entry);
  if (status.ok()) status = begin();
  if (!status.ok()) return status;
  int64_t copied = 0;
  while (true) {
    const la_ssize_t got =
        archive_read_data(reader_.get(), block_.data(), block_.size());
    if (got < 0) return Damaged(entry.path);
    if (got == 0) break;
    copied += got;
    if (copied > entry.size_bytes) return Damaged(entry.path);
    status = take(absl::string_view(block_.data(), static_cast<size_t>(got)));
    if (!status.ok()) return status;
  }
  return copied == entry.size_bytes ? absl::OkStatus() : Damaged(entry.path);
}

// Counts an entry's bytes before any of them is read, so a false size is
// refused too.
absl::Status TarReader::CountBytes(const TarEntry& entry) {
  const int64_t most = MostUnpackedBytes(bytes_.archive_bytes(), limits_);
  if (entry.size_bytes <= most - unpacked_bytes_) {
    unpacked_bytes_ += entry.size_bytes;
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "'", EscapeForTerminal(entry.path), "': ", bytes_.name().what,
      " unpacks to more than ", most, " bytes, the most for an archive of ",
      bytes_.archive_bytes(), " bytes", ExpansionAdvice(limits_)));
}

// Returns the error for a damaged entry, or that of the compressed bytes or the
// time limit if there is one.
absl::Status TarReader::Damaged(absl::string_view path) const {
  if (!bytes_.status().ok()) return bytes_.status();
  return absl::InvalidArgumentError(absl::StrCat(
      bytes_.name().what, " cannot be read", path.empty() ? "" : " at '",
      EscapeForTerminal(path), path.empty() ? "" : "'", ": ",
      DescribeArchiveError(reader_.get()), bytes_.name().advice));
}

}  // namespace footprint
