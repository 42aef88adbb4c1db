#include "footprint/profiling/records/python_codes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/records/python_record.h"
#include "footprint/profiling/records/record_file_reader.h"

namespace footprint {
namespace {

using profiling_internal::kMaxPythonCodes;
using profiling_internal::kMaxPythonLineTableBytes;
using profiling_internal::kMaxPythonNameCharacters;
using profiling_internal::kMaxPythonTextBytes;
using profiling_internal::kPythonMagic;
using profiling_internal::PythonCodeRecord;
using profiling_internal::PythonFrames;
using profiling_internal::PythonObjects;
using profiling_internal::PythonRecord;

// The members before the arrays.
struct alignas(PythonRecord) Head {
  char bytes[offsetof(PythonRecord, codes)];

  const PythonRecord& record() const {
    return *reinterpret_cast<const PythonRecord*>(bytes);
  }
};

void AppendUtf8(uint32_t character, std::string* text) {
  // Half of a surrogate pair, which a Python string may hold and UTF-8 may not.
  if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff) {
    character = 0xfffd;
  }
  const auto append = [text](uint32_t byte) {
    text->push_back(static_cast<char>(byte));
  };
  if (character < 0x80) {
    append(character);
  } else if (character < 0x800) {
    append(0xc0 | character >> 6);
    append(0x80 | (character & 63));
  } else if (character < 0x10000) {
    append(0xe0 | character >> 12);
    append(0x80 | (character >> 6 & 63));
    append(0x80 | (character & 63));
  } else {
    append(0xf0 | character >> 18);
    append(0x80 | (character >> 12 & 63));
    append(0x80 | (character >> 6 & 63));
    append(0x80 | (character & 63));
  }
}

// Converts characters of `kind` bytes each.
std::string ToUtf8(absl::string_view characters, int kind) {
  std::string text;
  for (size_t at = 0; at + static_cast<size_t>(kind) <= characters.size();
       at += static_cast<size_t>(kind)) {
    uint32_t character = 0;
    std::memcpy(&character, characters.data() + at, static_cast<size_t>(kind));
    AppendUtf8(character, &text);
  }
  return text;
}

bool IsKind(int kind) { return kind == 1 || kind == 2 || kind == 4; }

uint64_t TextBytes(const PythonCodeRecord& record) {
  return uint64_t{record.file_name_bytes} + record.name_bytes +
         record.line_table_bytes;
}

// Checks the sum of all texts before any is read: a damaged file could ask for
// the whole of it again and again.
absl::Status CheckTextBytes(const RecordFileReader& file,
                            const std::vector<PythonCodeRecord>& records) {
  uint64_t bytes = 0;
  for (const PythonCodeRecord& record : records) {
    bytes += TextBytes(record);
    if (bytes > kMaxPythonTextBytes) {
      return file.Damaged("Python functions have more text than the file");
    }
    if (record.file_name_bytes >
            kMaxPythonNameCharacters * record.file_name_kind ||
        record.name_bytes > kMaxPythonNameCharacters * record.name_kind ||
        record.line_table_bytes > kMaxPythonLineTableBytes) {
      return file.Damaged("a Python function's text is too long");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PythonCodes::Code> ReadCode(const RecordFileReader& file,
                                           const PythonCodeRecord& record) {
  const uint64_t bytes = TextBytes(record);
  if (record.text_offset > kMaxPythonTextBytes ||
      bytes > kMaxPythonTextBytes - record.text_offset ||
      !IsKind(record.file_name_kind) || !IsKind(record.name_kind)) {
    return file.Damaged("a Python function's texts are nowhere");
  }
  std::string text(bytes, '\0');
  absl::Status status = file.Read(
      offsetof(PythonRecord, text) + record.text_offset, bytes, text.data());
  if (!status.ok()) return status;
  const absl::string_view texts = text;
  PythonCodes::Code code;
  code.file =
      ToUtf8(texts.substr(0, record.file_name_bytes), record.file_name_kind);
  code.name = ToUtf8(texts.substr(record.file_name_bytes, record.name_bytes),
                     record.name_kind);
  code.line_table =
      std::string(texts.substr(record.file_name_bytes + record.name_bytes));
  code.first_line = record.first_line;
  return code;
}

}  // namespace

absl::StatusOr<PythonCodes> ReadPythonCodes(const std::string& path) {
  const RecordFileReader file(path);
  const auto head = std::make_unique<Head>();
  absl::Status status =
      file.ReadHead(kPythonMagic, "Python code", sizeof(Head), head->bytes);
  if (!status.ok()) return status;
  const PythonRecord& record = head->record();
  absl::StatusOr<std::vector<PythonCodeRecord>> records =
      file.ReadArray<PythonCodeRecord>(offsetof(PythonRecord, codes),
                                       record.code_count.load(),
                                       kMaxPythonCodes);
  if (!records.ok()) return records.status();
  status = CheckTextBytes(file, *records);
  if (!status.ok()) return status;
  PythonCodes python;
  python.interpreter =
      absl::StrCat("CPython ", record.version >> 24, ".",
                   record.version >> 16 & 255, ".", record.version >> 8 & 255);
  python.has_calls = record.frames == PythonFrames::kRead;
  python.objects_are_counted = record.objects == PythonObjects::kCounted;
  python.module_begin_address = record.module_begin_address;
  python.is_incomplete = record.is_full.load() != 0;
  for (const PythonCodeRecord& code_record : *records) {
    absl::StatusOr<PythonCodes::Code> code = ReadCode(file, code_record);
    if (!code.ok()) return code.status();
    python.codes.push_back(*std::move(code));
  }
  return python;
}

}  // namespace footprint
