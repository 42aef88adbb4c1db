#include "footprint/base/files/sealed_proto_file.h"

#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// The tag of the file's last field, number 16, a fixed32, so that other readers
// of protobuf skip it.
constexpr absl::string_view kChecksumTag("\x85\x01", 2);
constexpr size_t kChecksumSize = sizeof(uint32_t);

// The checksum goes by four bits: its table has 64 bytes, since it is part of
// every measured program.
constexpr std::array<uint32_t, 16> MakeChecksumTable() {
  constexpr uint32_t kPolynomial = 0xEDB88320;  // IEEE 802.3, lowest bit first
  std::array<uint32_t, 16> table = {};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t remainder = i;
    for (int bit = 0; bit < 4; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
    }
    table[i] = remainder;
  }
  return table;
}

// CRC-32 as in zlib: finds every change within 32 consecutive bits, and all but
// one in 4 billion of the others.
uint32_t ComputeChecksum(absl::string_view bytes) {
  static constexpr std::array<uint32_t, 16> kTable = MakeChecksumTable();
  uint32_t remainder = 0xFFFFFFFF;
  for (char c : bytes) {
    remainder ^= static_cast<unsigned char>(c);
    remainder = (remainder >> 4) ^ kTable[remainder & 15];
    remainder = (remainder >> 4) ^ kTable[remainder & 15];
  }
  return ~remainder;
}

void AppendChecksum(std::string* bytes) {
  uint32_t checksum = ComputeChecksum(*bytes);
  bytes->append(kChecksumTag.data(), kChecksumTag.size());
  for (size_t i = 0; i < kChecksumSize; ++i, checksum >>= 8) {
    bytes->push_back(static_cast<char>(checksum & 0xFF));
  }
}

enum class Checksum { kMissing, kRight, kWrong };

// Removes the checksum from the end of `bytes`, if there is one.
Checksum TakeChecksum(absl::string_view* bytes) {
  const size_t size = kChecksumTag.size() + kChecksumSize;
  if (bytes->size() < size) return Checksum::kMissing;
  const absl::string_view end = bytes->substr(bytes->size() - size);
  if (end.substr(0, kChecksumTag.size()) != kChecksumTag) {
    return Checksum::kMissing;
  }
  bytes->remove_suffix(size);
  uint32_t checksum = 0;
  for (size_t i = size; i > kChecksumTag.size(); --i) {
    checksum = checksum << 8 | static_cast<unsigned char>(end[i - 1]);
  }
  return checksum == ComputeChecksum(*bytes) ? Checksum::kRight
                                             : Checksum::kWrong;
}

const FieldDescriptor* VersionField(const Message& message) {
  return message.GetDescriptor()->FindFieldByName("schema_version");
}

const FieldDescriptor* CompleteField(const Message& message) {
  return message.GetDescriptor()->FindFieldByName("complete");
}

// Returns why a file is refused before its content is used: it is newer, of
// another kind, cut short, or without a checksum.
absl::Status Refuse(const SealedProtoFormat& format, const std::string& path,
                    bool is_parsed, int32_t version, bool is_complete) {
  if (is_parsed && version > format.schema_version) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": has schema version ", version,
                     ", and this program reads up to ", format.schema_version,
                     "; update Footprint here, or ", format.advice));
  }
  if (version < 1 || version > format.schema_version) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is no ", format.noun, "; name another, or ", format.advice));
  }
  if (!is_parsed || !is_complete) {
    return absl::DataLossError(absl::StrCat(path, ": is no whole ", format.noun,
                                            ": cut short or damaged; ",
                                            format.advice));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": has no checksum, so nothing shows that it is whole: an older "
      "Footprint wrote it, or its end is damaged; ",
      format.advice));
}

}  // namespace

absl::Status ReadSealedProto(const SealedProtoFormat& format,
                             const std::string& path, Message* message) {
  const absl::StatusOr<std::string> file = ReadWholeFile(path);
  if (!file.ok()) return file.status();
  if (file->empty()) {
    return absl::DataLossError(
        absl::StrCat(path, ": is empty; ", format.advice));
  }
  absl::string_view bytes = *file;
  const Checksum checksum = TakeChecksum(&bytes);
  if (checksum == Checksum::kWrong) {
    return absl::DataLossError(absl::StrCat(
        path, ": is damaged: its checksum is that of other bytes; ",
        format.advice));
  }
  const bool is_parsed =
      message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const auto* const reflection = message->GetReflection();
  const int32_t version =
      reflection->GetInt32(*message, VersionField(*message));
  const bool is_complete =
      reflection->GetBool(*message, CompleteField(*message));
  if (checksum == Checksum::kMissing || !is_parsed || !is_complete ||
      version < 1 || version > format.schema_version) {
    return Refuse(format, path, is_parsed, version, is_complete);
  }
  reflection->ClearField(message, CompleteField(*message));
  return absl::OkStatus();
}

absl::Status WriteSealedProto(const SealedProtoFormat& format,
                              const Message& message, const std::string& path) {
  const std::unique_ptr<Message> sealed(message.New());
  sealed->CopyFrom(message);
  const auto* const reflection = sealed->GetReflection();
  reflection->SetInt32(sealed.get(), VersionField(message),
                       format.schema_version);
  reflection->SetBool(sealed.get(), CompleteField(message), true);
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!sealed->SerializeToCodedStream(&coded)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": not written: the ", format.noun, " cannot be serialised"));
    }
  }
  AppendChecksum(&bytes);
  return WriteOutputFile(path, bytes, ToDisk::kNoFsync);
}

}  // namespace footprint
