#include "footprint/gates/bundles/unpacked_bytes.h"

#include <archive.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr int64_t kFreeExpansionBytes = 1 << 20;
constexpr int64_t kTarBlockBytes = 512;
// The filters of an archive that is compressed once: the file is one, too.
constexpr int kMostFilters = 2;
// The unpacked bytes that nobody keeps, such as headers, may be as many as
// those that are kept, and this many more.
constexpr int64_t kFreeHeaderBytes = int64_t{16} << 20;
// The most zeros after the last entry: tar pads its last record.
constexpr int64_t kMostPaddingBytes = 1 << 20;

}  // namespace

// Hands the packed bytes to libarchive.
struct PartReader {
  static la_ssize_t Read(archive* reader, void* client, const void** bytes) {
    UnpackedBytes* const self = static_cast<UnpackedBytes*>(client);
    *bytes = self->packed_.data();
    const int64_t wanted = std::min<int64_t>(
        kBlockBytes, self->part_.size_bytes - self->read_bytes_);
    const int64_t got = ReadAt(self->part_.descriptor,
                               self->part_.offset_bytes + self->read_bytes_,
                               wanted, self->packed_.data());
    if (got < 0) {
      archive_set_error(reader, errno, "the file cannot be read");
      return ARCHIVE_FATAL;
    }
    self->read_bytes_ += got;
    return got;
  }
};

SteadyTime EndOfTime(const BundleLimits& limits) {
  return std::chrono::steady_clock::now() +
         std::chrono::seconds(limits.seconds);
}

absl::Status CheckTime(const ArchiveName& name, const BundleLimits& limits,
                       SteadyTime end) {
  if (limits.is_stopped && limits.is_stopped()) {
    return absl::CancelledError("the unpacking was stopped");
  }
  if (std::chrono::steady_clock::now() <= end) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      name.what, " does not unpack in ", limits.seconds,
      " s, the most; leave out what the program does not read, or try again "
      "when the host has less to do"));
}

int64_t MostUnpackedBytes(int64_t archive_bytes, const BundleLimits& limits) {
  return std::min(limits.unpacked_bytes,
                  kFreeExpansionBytes + archive_bytes * limits.most_expansion);
}

std::string ExpansionAdvice(const BundleLimits& limits) {
  return absl::StrCat(
      "; an archive may unpack to ", FormatBytes(limits.unpacked_bytes),
      ", and to ", limits.most_expansion,
      " times its size: leave out what the program does not read, or let the "
      "program make long runs of equal bytes itself");
}

void FreeArchiveReader::operator()(archive* reader) const {
  archive_read_free(reader);
}

std::string DescribeArchiveError(archive* reader) {
  const char* const text = archive_error_string(reader);
  return text == nullptr ? "damaged" : EscapeForTerminal(text);
}

UnpackedBytes::UnpackedBytes(ArchiveName name, const BundleLimits& limits,
                             SteadyTime end)
    : name_(std::move(name)),
      limits_(limits),
      end_(end),
      packed_(kBlockBytes),
      block_(kBlockBytes) {}

absl::Status UnpackedBytes::Open(const FilePart& part) {
  part_ = part;
  if (part.size_bytes > limits_.archive_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        name_.what, " has ", part.size_bytes, " bytes; ", limits_.archive_bytes,
        " is the most (--most_bundle); leave out what the program "
        "does not read"));
  }
  reader_.reset(archive_read_new());
  if (reader_ == nullptr) return absl::UnavailableError("no memory");
  archive_read_support_filter_none(reader_.get());
  archive_read_support_filter_gzip(reader_.get());
  archive_read_support_filter_zstd(reader_.get());
  archive_read_support_format_raw(reader_.get());
  archive_entry* entry = nullptr;
  if (archive_read_open(reader_.get(), this, nullptr, PartReader::Read,
                        nullptr) != ARCHIVE_OK ||
      archive_read_next_header(reader_.get(), &entry) != ARCHIVE_OK) {
    return Damaged();
  }
  // Each filter has a window of its own.
  if (archive_filter_count(reader_.get()) <= kMostFilters) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name_.what, " is compressed more than once", name_.advice));
}

// Fails if there are too many bytes. Those that nobody keeps count, too, since
// they cost time.
absl::Status UnpackedBytes::CheckSize() const {
  const int64_t most_bytes =
      kFreeHeaderBytes + 2 * MostUnpackedBytes(part_.size_bytes, limits_);
  if (size_ <= most_bytes || size_ <= part_.size_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(name_.what, " unpacks to more than ", most_bytes,
                   " bytes with its headers, the most for an archive of ",
                   part_.size_bytes, " bytes", ExpansionAdvice(limits_)));
}

int64_t UnpackedBytes::Next(const void** bytes) {
  *bytes = block_.data();
  status_ = CheckTime();
  if (!status_.ok()) return -1;
  const la_ssize_t got =
      archive_read_data(reader_.get(), block_.data(), block_.size());
  if (got < 0) {
    status_ = Damaged();
    return -1;
  }
  if (got == 0) return 0;
  const auto end = block_.begin() + got;
  const auto last = std::find_if(std::make_reverse_iterator(end), block_.rend(),
                                 [](char each) { return each != 0; });
  if (last != block_.rend()) nonzero_end_ = size_ + (block_.rend() - last);
  size_ += got;
  status_ = CheckSize();
  if (!status_.ok()) return -1;
  if (is_hashed_) {
    hash_.Add(absl::string_view(block_.data(), static_cast<size_t>(got)));
  }
  return got;
}

absl::Status UnpackedBytes::FinishTar(int64_t entries_end) {
  const void* ignored = nullptr;
  while (nonzero_end_ <= entries_end &&
         size_ <= entries_end + kMostPaddingBytes) {
    const int64_t got = Next(&ignored);
    if (got < 0) return status_;
    if (got == 0) break;
  }
  if (nonzero_end_ > entries_end || size_ > entries_end + kMostPaddingBytes ||
      archive_filter_bytes(reader_.get(), -1) < part_.size_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_.what, " has bytes behind its end", name_.advice));
  }
  if (size_ < entries_end + 2 * kTarBlockBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_.what, " ends early: it has no end mark", name_.advice));
  }
  return absl::OkStatus();
}

absl::Status UnpackedBytes::CheckTime() const {
  return footprint::CheckTime(name_, limits_, end_);
}

absl::Status UnpackedBytes::Damaged() const {
  return absl::InvalidArgumentError(absl::StrCat(
      name_.what, " cannot be read: ", DescribeArchiveError(reader_.get()),
      name_.advice));
}

}  // namespace footprint
