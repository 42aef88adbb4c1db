#include "footprint/gates/deployments/tabular/csv_fields.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kBufferBytes = 32 << 10;
constexpr int kEndOfFile = -1;
constexpr unsigned char kByteOrderMark[] = {0xef, 0xbb, 0xbf};

absl::Status OpenError(int error, const std::string& path) {
  const std::string message =
      absl::StrCat(path, ": cannot be opened: ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(message, "; check --data"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(message, "; check its permissions"));
  }
  return absl::InternalError(message);
}

}  // namespace

CsvFields::CsvFields(char delimiter)
    : delimiter_(delimiter),
      buffer_(new char[kBufferBytes]),
      field_(new char[kMaximumFieldBytes]) {}

CsvFields::~CsvFields() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status CsvFields::Open(const std::string& path) {
  path_ = path;
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) return status_ = OpenError(errno, path);
  FillBuffer();
  if (buffer_size_ >= sizeof(kByteOrderMark) &&
      std::memcmp(buffer_.get(), kByteOrderMark, sizeof(kByteOrderMark)) == 0) {
    position_ = sizeof(kByteOrderMark);
  }
  return status_;
}

bool CsvFields::Next() {
  if (!status_.ok()) return false;
  // A file ends after a record, not in an empty one.
  if (is_last_in_record_ && Peek() == kEndOfFile) return false;
  field_line_ = line_;
  field_column_ = column_;
  field_size_ = 0;
  is_quoted_ = Peek() == '"';
  return is_quoted_ ? ReadQuoted() : ReadPlain();
}

std::string CsvFields::Place() const {
  return absl::StrCat(path_, ":", field_line_, ":", field_column_);
}

int CsvFields::Peek() {
  if (position_ == buffer_size_) FillBuffer();
  if (position_ == buffer_size_) return kEndOfFile;
  return static_cast<unsigned char>(buffer_[position_]);
}

void CsvFields::Advance() {
  if (buffer_[position_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++position_;
}

void CsvFields::FillBuffer() {
  if (at_end_ || descriptor_ < 0) return;
  position_ = 0;
  buffer_size_ = 0;
  // The byte-order mark must be seen whole, whatever a pipe gives first.
  while (buffer_size_ < sizeof(kByteOrderMark) && !at_end_) {
    const ssize_t count = read(descriptor_, buffer_.get() + buffer_size_,
                               kBufferBytes - buffer_size_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status_ = absl::InternalError(
          absl::StrCat(path_, ":", line_, ":", column_,
                       ": cannot be read further: ", std::strerror(errno)));
    }
    at_end_ = count <= 0;
    if (count > 0) buffer_size_ += static_cast<size_t>(count);
  }
}

bool CsvFields::Append(int byte) {
  if (field_size_ == kMaximumFieldBytes) {
    return Fail(absl::StrCat("a field of more than ", kMaximumFieldBytes,
                             " bytes; is a closing quote missing, or is this "
                             "no text?"));
  }
  field_[field_size_++] = static_cast<char>(byte);
  Advance();
  return true;
}

bool CsvFields::ReadQuoted() {
  Advance();
  while (true) {
    const int byte = Peek();
    if (byte == kEndOfFile) {
      return Fail("a quoted field is not closed before the end of the file");
    }
    if (byte != '"') {
      if (!Append(byte)) return false;
      continue;
    }
    Advance();
    if (Peek() != '"') return EndField();
    if (!Append('"')) return false;
  }
}

bool CsvFields::ReadPlain() {
  const int delimiter = static_cast<unsigned char>(delimiter_);
  while (true) {
    const int byte = Peek();
    if (byte == '"') {
      return Fail("a quote inside a field that does not begin with one");
    }
    if (byte == delimiter || byte == '\n' || byte == '\r' ||
        byte == kEndOfFile) {
      return EndField();
    }
    if (!Append(byte)) return false;
  }
}

bool CsvFields::EndField() {
  const int delimiter = static_cast<unsigned char>(delimiter_);
  const int byte = Peek();
  is_last_in_record_ = byte != delimiter;
  if (!status_.ok()) return false;
  if (byte == kEndOfFile) return true;
  if (byte != delimiter && byte != '\r' && byte != '\n') {
    return Fail(
        "the delimiter or the end of the line should follow a quoted field");
  }
  Advance();
  if (byte == '\r') {
    if (Peek() != '\n') return Fail("a carriage return without a line feed");
    Advance();
  }
  return true;
}

bool CsvFields::Fail(const std::string& message) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path_, ":", line_, ":", column_, ": ", message));
  }
  return false;
}

}  // namespace tabular
}  // namespace footprint
