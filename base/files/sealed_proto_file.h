// Reads and writes a protobuf message as a file, completely or not at all.
//
//   constexpr SealedProtoFormat kFormat = {"memory profile", /*version=*/1,
//                                          "measure again"};
//   absl::Status status = WriteSealedProto(kFormat, profile, path);
//   MemoryProfile read;
//   status = ReadSealedProto(kFormat, path, &read);
//
// The message must have the fields `int32 schema_version` and `bool complete`,
// which the writer sets. The file ends with the CRC-32 of all its other bytes.
// A file with any changed bit is refused, and so is a file without a checksum.
// This protects against accidents, not against forgers. In protobuf's terms the
// checksum is field 16, a fixed32. Equal messages give equal bytes. A write
// replaces the old file in one step; the system decides when the bytes reach
// the disk.
//
// Thread-safe, since it keeps no state. Memory: the file's bytes and the
// message at once; a write makes a copy of the message, too. Time: linear.

#ifndef FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_
#define FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace footprint {

// The texts must outlive the calls.
struct SealedProtoFormat {
  // The word for such a file in errors.
  const char* noun;
  // The version that a writer stores, and the newest that a reader accepts.
  int32_t schema_version;
  // Says how to get a complete file, at the end of an error.
  const char* advice;
};

// Reads a file into `message` and clears `complete`. After an error `message`
// may have any content. Errors name `path`, the problem and the next step.
// Returns the errors of ReadWholeFile (whole_file.h), such as NotFound, and
// InvalidArgument above 256 MiB; DataLoss if the file is empty, cut short or
// damaged; FailedPrecondition if its schema is newer, or if it has no checksum,
// because an older Footprint wrote it or its end is cut off or damaged;
// InvalidArgument if it is a file of another kind.
absl::Status ReadSealedProto(const SealedProtoFormat& format,
                             const std::string& path,
                             google::protobuf::Message* message);

// Writes the file, also one of more than 256 MiB, which ReadSealedProto
// refuses. A device, a pipe or an open descriptor gets the bytes directly.
// Returns the errors of WriteOutputFile (whole_file.h), and InvalidArgument if
// the message cannot be serialised.
absl::Status WriteSealedProto(const SealedProtoFormat& format,
                              const google::protobuf::Message& message,
                              const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SEALED_PROTO_FILE_H_
