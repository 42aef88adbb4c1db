#include "footprint/gates/trend/commit_history.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/sealed_proto_file.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

constexpr int kVersion = 1;
constexpr SealedProtoFormat kFormat = {"measurement of a commit", kVersion,
                                       "record the commit again"};

}  // namespace

std::string NameCommitObject(absl::string_view commit, absl::string_view gate) {
  absl::ConsumePrefix(&gate, "//");
  std::string name;
  for (const char each : gate) {
    const bool is_plain =
        absl::ascii_isalnum(static_cast<unsigned char>(each)) || each == '_' ||
        each == '-' || each == '.';
    if (is_plain) {
      name.push_back(each);
    } else if (each == '/') {
      name.push_back('+');
    } else {
      absl::StrAppend(&name, "+", absl::Hex(static_cast<unsigned char>(each)),
                      "+");
    }
  }
  return absl::StrCat(name, "/", commit, ".binpb");
}

absl::StatusOr<CommitProfiles> CommitHistory::Read(const std::string& commit,
                                                   const std::string& gate) {
  const std::string name = NameCommitObject(commit, gate);
  const absl::StatusOr<std::string> bytes = store_->Get(name);
  if (!bytes.ok()) return bytes.status();
  TemporaryFolder folder;
  absl::Status status = folder.Create(TemporaryFolderParent(), "history");
  const std::string path = folder.Path("profiles.binpb");
  if (status.ok()) status = ReplaceFile(path, *bytes, ToDisk::kNoFsync);
  if (!status.ok()) return status;
  CommitProfiles profiles;
  status = ReadSealedProto(kFormat, path, &profiles);
  if (status.ok() && (profiles.commit() != commit || profiles.gate() != gate)) {
    status = absl::DataLossError("it is another commit's");
  }
  if (status.ok()) return profiles;
  return absl::DataLossError(
      absl::StrCat("the store's ", name, " is damaged: ", status.message()));
}

absl::Status CommitHistory::Write(const CommitProfiles& profiles) {
  TemporaryFolder folder;
  absl::Status status = folder.Create(TemporaryFolderParent(), "history");
  if (!status.ok()) return status;
  const std::string path = folder.Path("profiles.binpb");
  status = WriteSealedProto(kFormat, profiles, path);
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  return store_->Put(NameCommitObject(profiles.commit(), profiles.gate()),
                     *bytes);
}

absl::Status CommitHistory::Add(const CommitProfiles& profiles) {
  const absl::Status there = Read(profiles.commit(), profiles.gate()).status();
  const bool is_wanted = absl::IsNotFound(there) || absl::IsDataLoss(there);
  return is_wanted ? Write(profiles) : there;
}

std::vector<MemoryProfile> ProfilesOf(const CommitProfiles& profiles) {
  return {profiles.profiles().begin(), profiles.profiles().end()};
}

}  // namespace footprint
