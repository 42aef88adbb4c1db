#include "footprint/gates/bundles/test_tar.h"

#include <archive.h>
#include <archive_entry.h>

#include <cstdio>
#include <cstdlib>

namespace footprint {
namespace {

std::string Compressed(const std::string& bytes, int (*add_filter)(archive*)) {
  std::string packed(bytes.size() + (64 << 10), '\0');
  size_t used = 0;
  archive* const writer = archive_write_new();
  archive_write_set_format_raw(writer);
  add_filter(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, packed.data(), packed.size(), &used);
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(writer, entry);
  const bool is_written =
      archive_write_data(writer, bytes.data(), bytes.size()) ==
      static_cast<la_ssize_t>(bytes.size());
  archive_entry_free(entry);
  if (!is_written || archive_write_close(writer) != ARCHIVE_OK) {
    std::fprintf(stderr, "libarchive: %s\n", archive_error_string(writer));
    std::abort();
  }
  archive_write_free(writer);
  packed.resize(used);
  return packed;
}

}  // namespace

std::string GzipOf(const std::string& bytes) {
  return Compressed(bytes, archive_write_add_filter_gzip);
}

std::string ZstdOf(const std::string& bytes) {
  return Compressed(bytes, archive_write_add_filter_zstd);
}

}  // namespace footprint
