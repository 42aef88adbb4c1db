#include "footprint/base/text/csv_parser.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int kEndOfText = -1;
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

CsvParser::CsvParser(char delimiter)
    : delimiter_(delimiter), field_(new char[kMaximumFieldBytes]) {}

CsvParser::CsvParser(absl::string_view name, absl::string_view text,
                     char delimiter)
    : CsvParser(delimiter) {
  name_ = std::string(name);
  bytes_ = text;
  at_end_ = true;
  SkipByteOrderMark();
}

absl::Status CsvParser::Begin(absl::string_view name) {
  name_ = std::string(name);
  Refill();
  SkipByteOrderMark();
  return status_;
}

void CsvParser::SkipByteOrderMark() {
  if (absl::StartsWith(bytes_, kByteOrderMark)) {
    position_ = kByteOrderMark.size();
  } else if (absl::StartsWith(bytes_, "\xff\xfe") ||
             absl::StartsWith(bytes_, "\xfe\xff")) {
    Fail("this is UTF-16; save it as UTF-8, or plain CSV");
  }
}

bool CsvParser::Next() {
  if (!status_.ok()) return false;
  // A text ends after a record, not with an empty one.
  if (is_last_in_record_ && Peek() == kEndOfText) return false;
  field_line_ = line_;
  field_column_ = column_;
  field_size_ = 0;
  is_quoted_ = Peek() == '"';
  return is_quoted_ ? ReadQuoted() : ReadPlain();
}

std::string CsvParser::Location() const {
  return absl::StrCat(name_, ":", field_line_, ":", field_column_);
}

int CsvParser::Peek() {
  if (position_ == bytes_.size()) Refill();
  if (position_ == bytes_.size()) return kEndOfText;
  return static_cast<unsigned char>(bytes_[position_]);
}

void CsvParser::Advance() {
  if (bytes_[position_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++position_;
}

void CsvParser::Refill() {
  if (at_end_) return;
  position_ = 0;
  absl::StatusOr<absl::string_view> bytes = NextBytes();
  if (!bytes.ok()) Fail(bytes.status().code(), bytes.status().message());
  bytes_ = bytes.ok() ? *bytes : absl::string_view();
  at_end_ = bytes_.empty();
}

bool CsvParser::Append(int byte) {
  if (field_size_ == kMaximumFieldBytes) {
    return Fail(absl::StrCat("a field of more than ", kMaximumFieldBytes,
                             " bytes; is a closing quote missing, or is this "
                             "no text?"));
  }
  field_[field_size_++] = static_cast<char>(byte);
  Advance();
  return true;
}

bool CsvParser::ReadQuoted() {
  Advance();
  while (true) {
    const int byte = Peek();
    if (byte == kEndOfText) {
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

// Appends at once all plain characters of the field in the current bytes.
void CsvParser::AppendPlain() {
  const absl::string_view rest =
      bytes_.substr(position_, kMaximumFieldBytes - field_size_);
  const auto is_plain = [this](char c) {
    return c != delimiter_ && c != '"' && c != '\n' && c != '\r';
  };
  size_t size = 0;
  while (size < rest.size() && is_plain(rest[size])) ++size;
  std::memcpy(field_.get() + field_size_, rest.data(), size);
  field_size_ += size;
  position_ += size;
  column_ += static_cast<int64_t>(size);
}

bool CsvParser::ReadPlain() {
  const int delimiter = static_cast<unsigned char>(delimiter_);
  while (true) {
    AppendPlain();
    const int byte = Peek();
    if (byte == '"') {
      return Fail("a quote inside a field that does not begin with one");
    }
    if (byte == delimiter || byte == '\n' || byte == '\r' ||
        byte == kEndOfText) {
      return EndField();
    }
    if (!Append(byte)) return false;
  }
}

bool CsvParser::EndField() {
  const int delimiter = static_cast<unsigned char>(delimiter_);
  const int byte = Peek();
  is_last_in_record_ = byte != delimiter;
  if (!status_.ok()) return false;
  if (byte == kEndOfText) return true;
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

bool CsvParser::Fail(absl::StatusCode code, absl::string_view message) {
  if (status_.ok()) {
    status_ = absl::Status(
        code, absl::StrCat(name_, ":", line_, ":", column_, ": ", message));
  }
  return false;
}

bool CsvParser::Fail(absl::string_view message) {
  return Fail(absl::StatusCode::kInvalidArgument, message);
}

}  // namespace footprint
