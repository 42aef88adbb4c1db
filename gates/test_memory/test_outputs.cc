#include "footprint/gates/test_memory/test_outputs.h"

#include <archive.h>
#include <archive_entry.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 65536;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

absl::Status Damaged(const std::string& path, archive* from) {
  const char* const why = archive_error_string(from);
  return absl::InvalidArgumentError(absl::StrCat(
      EscapeForTerminal(path), ": is no readable archive (",
      why == nullptr ? "cut short" : why, "); run the test again"));
}

// Reads the text of the entry at which `from` stands.
absl::StatusOr<std::string> ReadEntry(const std::string& path, archive* from) {
  std::string text(static_cast<size_t>(kMostTestRecordBytes) + 1, '\0');
  const la_ssize_t size = archive_read_data(from, text.data(), text.size());
  if (size < 0) return Damaged(path, from);
  text.resize(static_cast<size_t>(size));
  return text;
}

absl::StatusOr<std::string> ReadZip(const std::string& path) {
  const Archive opened(archive_read_new(), archive_read_free);
  if (opened == nullptr ||
      archive_read_support_format_zip(opened.get()) != ARCHIVE_OK ||
      archive_read_open_filename(opened.get(), path.c_str(), kBlockBytes) !=
          ARCHIVE_OK) {
    return Damaged(path, opened.get());
  }
  archive_entry* entry = nullptr;
  int result = ARCHIVE_OK;
  while ((result = archive_read_next_header(opened.get(), &entry)) ==
             ARCHIVE_OK ||
         result == ARCHIVE_WARN) {
    const char* const name = archive_entry_pathname(entry);
    if (name != nullptr && absl::string_view(name) == kTestRecordName) {
      return ReadEntry(path, opened.get());
    }
  }
  if (result != ARCHIVE_EOF) return Damaged(path, opened.get());
  return absl::NotFoundError("its outputs have no record");
}

}  // namespace

absl::StatusOr<TestRecord> ReadRecordOfOutputs(const std::string& folder) {
  const std::string plain = absl::StrCat(folder, "/", kTestRecordName);
  const std::string zip = absl::StrCat(folder, "/outputs.zip");
  std::error_code ignored;
  absl::StatusOr<std::string> text = absl::NotFoundError("it has no outputs");
  if (fs::exists(plain, ignored)) {
    text = ReadWholeFile(plain, kMostTestRecordBytes);
  } else if (fs::exists(zip, ignored)) {
    text = ReadZip(zip);
  }
  if (!text.ok()) return text.status();
  return ParseTestRecord(*text);
}

}  // namespace footprint
