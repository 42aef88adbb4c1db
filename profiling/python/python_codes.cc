#include "footprint/profiling/python/python_codes.h"

#include <string.h>

#include <algorithm>
#include <cstddef>

#include "footprint/profiling/python/object_memory.h"
#include "footprint/profiling/sites/system_pages.h"

namespace footprint::profiling_internal {
namespace {

uint64_t HashBytes(uint64_t hash, uintptr_t begin, size_t size_bytes) {
  uint64_t word = 0;
  for (; size_bytes >= sizeof(word);
       begin += sizeof(word), size_bytes -= sizeof(word)) {
    hash = HashPair(hash, LoadAs<uint64_t>(begin));
  }
  memcpy(&word, reinterpret_cast<const void*>(begin), size_bytes);
  return HashPair(hash, word + size_bytes);
}

}  // namespace

bool PythonCodeWriter::Begin(int folder, const char* file_name,
                             const Facts& facts) {
  Close();
  record_ = static_cast<PythonRecord*>(file_.Create(
      folder, file_name, sizeof(PythonRecord), offsetof(PythonRecord, codes)));
  if (record_ == nullptr) return false;
  code_array_ = GrowingArray(&file_, offsetof(PythonRecord, codes),
                             sizeof(PythonCodeRecord), kMaxPythonCodes);
  text_array_ = GrowingArray(&file_, offsetof(PythonRecord, text), 1,
                             kMaxPythonTextBytes);
  record_->version = facts.version;
  record_->frames = facts.frames;
  record_->objects = facts.objects;
  record_->module_begin_address = facts.module_begin_address;
  __atomic_store_n(&record_->magic, kPythonMagic, __ATOMIC_RELEASE);
  return true;
}

void PythonCodeWriter::NoteThatObjectsCount() {
  if (record_ != nullptr) record_->objects = PythonObjects::kCounted;
}

void PythonCodeWriter::Close() {
  file_.Close();
  record_ = nullptr;
  text_bytes_ = 0;
  content_index_.Clear();
  GivePagesBack(known_, kKnownCount * sizeof(Known));
  known_ = nullptr;
}

bool PythonCodeWriter::ReadStr(uintptr_t object, uint32_t most_characters,
                               Text* text) const {
  if (!IsObjectOfType(object, types_.str)) return false;
  // The bits are two of interning, three of kind, then compact and ascii.
  const auto state = LoadAs<uint32_t>(object + kStrState);
  const uint32_t kind = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0;
  const bool is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return false;
  const auto length = LoadAs<uint64_t>(object + kStrLength);
  text->begin = object + (is_ascii ? layout_.str_ascii : layout_.str_compact);
  text->bytes =
      static_cast<uint32_t>(std::min<uint64_t>(length, most_characters)) * kind;
  text->kind = static_cast<uint8_t>(kind);
  return true;
}

bool PythonCodeWriter::ReadBytes(uintptr_t object, Text* text) const {
  if (!IsObjectOfType(object, types_.bytes)) return false;
  const auto size = LoadAs<uint64_t>(object + kBytesSize);
  if (size > kMaxPythonLineTableBytes) return false;
  text->begin = object + kBytesContent;
  text->bytes = static_cast<uint32_t>(size);
  return true;
}

bool PythonCodeWriter::ReadCode(uintptr_t code, Code* read) const {
  read->first_line = LoadAs<int32_t>(code + layout_.code_first_line);
  return ReadStr(LoadAs<uintptr_t>(code + layout_.code_file_name),
                 kMaxPythonNameCharacters, &read->file_name) &&
         ReadStr(LoadAs<uintptr_t>(code + layout_.code_qualified_name),
                 kMaxPythonNameCharacters, &read->name) &&
         ReadBytes(LoadAs<uintptr_t>(code + layout_.code_line_table),
                   &read->line_table);
}

bool PythonCodeWriter::HasContent(uint32_t number, const Code& code) const {
  const PythonCodeRecord& known = record_->codes[number];
  if (known.file_name_bytes != code.file_name.bytes ||
      known.name_bytes != code.name.bytes ||
      known.line_table_bytes != code.line_table.bytes ||
      known.first_line != code.first_line ||
      known.file_name_kind != code.file_name.kind ||
      known.name_kind != code.name.kind) {
    return false;
  }
  const char* at = record_->text + known.text_offset;
  for (const Text* text : {&code.file_name, &code.name, &code.line_table}) {
    if (memcmp(at, reinterpret_cast<const void*>(text->begin), text->bytes) !=
        0) {
      return false;
    }
    at += text->bytes;
  }
  return true;
}

uint32_t PythonCodeWriter::Write(const Code& code) {
  const uint32_t number = record_->code_count.load(std::memory_order_relaxed);
  const uint32_t bytes =
      code.file_name.bytes + code.name.bytes + code.line_table.bytes;
  if (!code_array_.Reach(number) || text_bytes_ + bytes > kMaxPythonTextBytes ||
      (bytes > 0 && !text_array_.Reach(text_bytes_ + bytes - 1))) {
    return kNone;
  }
  record_->codes[number] = {text_bytes_,     code.file_name.bytes,
                            code.name.bytes, code.line_table.bytes,
                            code.first_line, code.file_name.kind,
                            code.name.kind};
  for (const Text* text : {&code.file_name, &code.name, &code.line_table}) {
    memcpy(record_->text + text_bytes_,
           reinterpret_cast<const void*>(text->begin), text->bytes);
    text_bytes_ += text->bytes;
  }
  record_->code_count.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t PythonCodeWriter::FindContent(const Code& code) {
  uint64_t hash = static_cast<uint64_t>(code.first_line);
  for (const Text* text : {&code.file_name, &code.name, &code.line_table}) {
    hash = HashBytes(hash, text->begin, text->bytes);
  }
  // Numbers of the index are positive, ours begin with 0.
  const uint32_t known = content_index_.Find(
      hash, [&](uint32_t number) { return HasContent(number - 1, code); });
  if (known != NumberIndex::kNone) return known - 1;
  const uint32_t number = Write(code);
  if (number == kNone || !content_index_.Add(hash, number + 1)) {
    record_->is_full.store(1, std::memory_order_relaxed);
  }
  return number;
}

uint32_t PythonCodeWriter::FindNumber(uintptr_t code) {
  if (record_ == nullptr || !IsObjectOfType(code, types_.code)) return kNone;
  if (known_ == nullptr) {
    known_ = static_cast<Known*>(TakePages(kKnownCount * sizeof(Known)));
    if (known_ == nullptr) return kNone;
  }
  Known& known = known_[HashPair(code, 0) % kKnownCount];
  const Known seen = {code,
                      LoadAs<uintptr_t>(code + layout_.code_file_name),
                      LoadAs<uintptr_t>(code + layout_.code_qualified_name),
                      LoadAs<uintptr_t>(code + layout_.code_line_table),
                      LoadAs<int32_t>(code + layout_.code_first_line),
                      known.number};
  if (known == seen) return known.number;
  Code content;
  if (!ReadCode(code, &content)) return kNone;
  const uint32_t number = FindContent(content);
  if (number == kNone) return kNone;
  known = seen;
  known.number = number;
  return number;
}

}  // namespace footprint::profiling_internal
