// A protobuf message as a file that is read whole or not at all.
//
//   constexpr SealedProtoFormat kFormat = {"memory profile", /*version=*/1,
//                                          "measure again"};
//   absl::Status status = WriteSealedProto(kFormat, profile, path);
//   MemoryProfile read;
//   status = ReadSealedProto(kFormat, path, &read);
//
// The message has fields `int32 schema_version` and `bool complete`, which the
// writer sets. The file ends with the CRC-32 of all its other bytes, so one in
// which any bit changed is refused, and so is one without it: it is against
// accidents, not against forgers. In protobuf's terms it is field 16, a
// fixed32. Equal messages give equal bytes. A write replaces the old file in
// one step and leaves it to the system when it reaches the disk.
//
// Thread-safe: no state is kept. Memory: the file's bytes and the message, at
// once. Time: linear.

#ifndef FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_
#define FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace footprint {

struct SealedProtoFormat {
  const char* noun;
  // Version that a writer puts in, and the newest that a reader accepts.
  int32_t schema_version;
  // How to get a whole file: ends the errors.
  const char* advice;
};

// Errors name `path`, what is wrong and the next step: those of ReadWholeFile
// (whole_file.h), as NotFound; DataLoss: empty, cut short or damaged;
// FailedPrecondition: of a newer schema, or without a checksum, as an older
// Footprint wrote it; InvalidArgument: no such file. `complete` is cleared.
absl::Status ReadSealedProto(const SealedProtoFormat& format,
                             const std::string& path,
                             google::protobuf::Message* message);

// The errors of ReplaceFile (whole_file.h).
absl::Status WriteSealedProto(const SealedProtoFormat& format,
                              const google::protobuf::Message& message,
                              const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_
