// Writes a memory profile from its text form, for tests. encode_profile_main
// INPUT.textproto OUTPUT.binpb

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "google/protobuf/text_format.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::StatusOr<std::string> text = footprint::ReadWholeFile(argv[1]);
  footprint::MemoryProfile profile;
  if (!text.ok() ||
      !google::protobuf::TextFormat::ParseFromString(*text, &profile)) {
    std::fprintf(stderr, "%s is no text of a profile\n", argv[1]);
    return 1;
  }
  const absl::Status status =
      footprint::WriteMemoryProfileFile(profile, argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
