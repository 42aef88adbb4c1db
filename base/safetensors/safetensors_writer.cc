#include "footprint/base/safetensors/safetensors_writer.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/utf8.h"

namespace footprint {
namespace {

// Returns the text as a JSON string. Bytes from 0x20 on, except quotes and
// backslashes, stay as they are.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", c);
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

std::string MetadataText(const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : metadata) {
    entries.push_back(absl::StrCat(Quoted(key), ":", Quoted(value)));
  }
  return absl::StrCat("\"__metadata__\":{", absl::StrJoin(entries, ","), "}");
}

std::string Entry(const TensorSpec& tensor, int64_t begin, int64_t end) {
  return absl::StrCat(Quoted(tensor.name), ":{\"dtype\":\"",
                      DTypeName(tensor.dtype), "\",\"shape\":[",
                      absl::StrJoin(tensor.shape.extents(), ","),
                      "],\"data_offsets\":[", begin, ",", end, "]}");
}

constexpr int64_t kMostAlignmentBytes = int64_t{1} << 20;
constexpr int64_t kMostDataBytes = int64_t{1} << 62;

int64_t Missing(int64_t bytes, int64_t alignment) {
  return (alignment - bytes % alignment) % alignment;
}

}  // namespace

absl::Status SafetensorsWriter::AddPart(const TensorSpec& tensor, bool padding,
                                        Layout* layout) {
  const absl::StatusOr<int64_t> bytes = TensorBytes(tensor.dtype, tensor.shape);
  if (!bytes.ok()) return bytes.status();
  if (*bytes > kMostDataBytes - layout->data_bytes) {
    return absl::InvalidArgumentError("the tensors exceed 2^62 bytes");
  }
  const int64_t end = layout->data_bytes + *bytes;
  layout->entries.push_back(Entry(tensor, layout->data_bytes, end));
  layout->parts.push_back({tensor.name, *bytes, padding});
  layout->data_bytes = end;
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::LayOut(absl::Span<const TensorSpec> tensors,
                                       int64_t alignment, Layout* layout) {
  absl::flat_hash_set<absl::string_view> names;
  for (const TensorSpec& tensor : tensors) {
    if (!IsUtf8(tensor.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor \"", absl::CHexEscape(tensor.name),
                       "\": its name is not UTF-8, as the format needs"));
    }
    if (!names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two tensors are named \"", tensor.name, "\""));
    }
    if (absl::StartsWith(tensor.name, kPaddingPrefix)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor \"", tensor.name, "\": names that begin so are padding"));
    }
    absl::Status added = AddPart(tensor, /*padding=*/false, layout);
    if (!added.ok()) return added;
    const int64_t missing = Missing(layout->data_bytes, alignment);
    if (missing == 0) continue;
    const TensorSpec padding = {
        absl::StrCat(kPaddingPrefix, layout->parts.size()),
        DType::kU8,
        {missing}};
    added = AddPart(padding, /*padding=*/true, layout);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

absl::StatusOr<SafetensorsWriter> SafetensorsWriter::Create(
    absl::string_view path, absl::Span<const TensorSpec> tensors,
    const SafetensorsWriterOptions& options) {
  const int64_t alignment = options.alignment_bytes;
  if (alignment < 1 || alignment > kMostAlignmentBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": alignment of ", alignment, " bytes is not within 1 and 2^20"));
  }
  Layout layout;
  if (!options.metadata.empty()) {
    layout.entries.push_back(MetadataText(options.metadata));
  }
  absl::Status laid_out = LayOut(tensors, alignment, &layout);
  if (!laid_out.ok()) {
    return absl::Status(laid_out.code(),
                        absl::StrCat(path, ": ", laid_out.message()));
  }
  std::string header =
      absl::StrCat("{", absl::StrJoin(layout.entries, ","), "}");
  // Spaces align the data, to at least 8 bytes for 8-byte elements.
  header.append(
      static_cast<size_t>(Missing(8 + static_cast<int64_t>(header.size()),
                                  std::lcm<int64_t>(8, alignment))),
      ' ');
  const int64_t header_bytes = static_cast<int64_t>(header.size());
  if (header_bytes > SafetensorsIndex::kMaximumHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a header of ", header_bytes,
                     " bytes exceeds the format's limit"));
  }
  const int64_t file_bytes = 8 + header_bytes + layout.data_bytes;
  // Checks that the reader accepts the header.
  const absl::StatusOr<SafetensorsIndex> readable =
      SafetensorsIndex::Parse(header, file_bytes, path);
  if (!readable.ok()) return readable.status();
  // Begins the file.
  AtomicFileOptions whole;
  whole.expected_bytes = file_bytes;
  whole.to_disk = options.to_disk;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, whole);
  if (!file.ok()) return file.status();
  SafetensorsWriter writer(*std::move(file));
  writer.parts_ = std::move(layout.parts);
  writer.file_bytes_ = file_bytes;
  absl::Status begun = writer.Begin(header);
  if (!begun.ok()) return begun;
  return writer;
}

absl::Status SafetensorsWriter::Begin(const std::string& header) {
  char length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] =
        static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  }
  absl::Status status = file_.Append({length, sizeof(length)});
  if (status.ok()) status = file_.Append(header);
  return status.ok() ? SkipComplete() : status;
}

// Continues with the next part that needs values, and writes padding on the
// way.
absl::Status SafetensorsWriter::SkipComplete() {
  while (part_ < parts_.size()) {
    const Part& part = parts_[part_];
    if (part.padding) {
      const std::string zeros(static_cast<size_t>(part.bytes), '\0');
      absl::Status status = file_.Append(zeros);
      if (!status.ok()) return status;
    } else if (written_in_part_ < part.bytes) {
      return absl::OkStatus();
    }
    ++part_;
    written_in_part_ = 0;
  }
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::Append(const void* data, int64_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    if (part_ == parts_.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat(bytes, " bytes more than the tensors take"));
    }
    const int64_t count =
        std::min(bytes, parts_[part_].bytes - written_in_part_);
    absl::Status status = file_.Append({from, static_cast<size_t>(count)});
    if (!status.ok()) return status;
    written_in_part_ += count;
    from += count;
    bytes -= count;
    status = SkipComplete();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::Finish() {
  if (part_ < parts_.size()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tensor \"", parts_[part_].name, "\" has ", written_in_part_,
        " of its ", parts_[part_].bytes, " bytes; nothing was replaced"));
  }
  return file_.Commit();
}

}  // namespace footprint
