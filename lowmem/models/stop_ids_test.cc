#include "footprint/lowmem/models/stop_ids.h"

#include <sys/stat.h>

#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Folder(const std::string& config, const std::string& generation) {
  const std::string folder = TestPath("model");
  mkdir(folder.c_str(), 0777);
  EXPECT_THAT(ReplaceFile(folder + "/config.json", config, ToDisk::kNoFsync),
              IsOk());
  EXPECT_THAT(ReplaceFile(folder + "/generation_config.json", generation,
                          ToDisk::kNoFsync),
              IsOk());
  return folder;
}

TEST(ReadStopIdsTest, ReadsBothFiles) {
  EXPECT_THAT(*ReadStopIds(Folder(R"({"eos_token_id": 5})",
                                  R"({"eos_token_id": [128001, 5]})")),
              ElementsAre(128001, 5));
  EXPECT_THAT(*ReadStopIds(Folder("{}", R"({"eos_token_id": null})")),
              IsEmpty());
  EXPECT_THAT(*ReadStopIds("/nowhere"), IsEmpty());
}

TEST(ReadStopIdsTest, SaysWhatIsNoId) {
  for (const char* bad :
       {R"({"eos_token_id": -1})", R"({"eos_token_id": "2"})",
        R"({"eos_token_id": 1.5})", R"({"eos_token_id": 5000000000})"}) {
    const auto stops = ReadStopIds(Folder("{}", bad));
    EXPECT_THAT(stops, StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
    EXPECT_THAT(stops.status().message(),
                HasSubstr("generation_config.json: eos_token_id is not"));
  }
}

TEST(ReadStopIdsTest, SaysWhatIsNoFile) {
  const std::string folder = TestPath("odd");
  mkdir(folder.c_str(), 0777);
  mkdir((folder + "/generation_config.json").c_str(), 0777);
  EXPECT_THAT(ReadStopIds(folder).status().message(),
              HasSubstr("generation_config.json"));
  EXPECT_THAT(ReadStopIds(folder),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
