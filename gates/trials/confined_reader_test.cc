#include "footprint/gates/trials/confined_reader.h"

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/sandbox/missing_mechanism.h"
#include "footprint/gates/trials/checked_explanation.h"
#include "footprint/gates/trials/embedded_record_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class ConfinedReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SANDBOX();
    static int count = 0;
    name_ = absl::StrCat("reader", ++count);
    folder_ = TestPath(name_);
    for (const char* each : {"/bundle", "/work", "/records"}) {
      std::filesystem::create_directories(folder_ + each);
    }
    absl::StatusOr<SandboxRoot> root = SandboxRoot::Create(folder_);
    ASSERT_THAT(root, IsOk());
    root_ = std::make_unique<SandboxRoot>(*std::move(root));
  }

  RecordsToRead Records() const {
    RecordsToRead records;
    records.run.folder = folder_ + "/records";
    records.run.arguments = {"program"};
    records.work_folder = folder_ + "/work";
    records.bundle_folder = folder_ + "/bundle";
    records.limit_bytes = 64 * kMiB;
    records.time_limit_seconds = 20;
    return records;
  }

  // Returns the result of a reader that the record `name` took over.
  absl::StatusOr<TrialExplanation> TakenOver(const std::string& name) const {
    WriteTestFile(absl::StrCat(name_, "/records/", name), "");
    RecordsToRead records = Records();
    if (name == "spin") records.time_limit_seconds = 1;
    return ReadRecordsConfined(*root_, records,
                               ReadTestFile("gates/trials/hostile_reader"));
  }

  std::string name_;
  std::string folder_;
  std::unique_ptr<SandboxRoot> root_;
};

struct TakeOver {
  const char* name;
  const char* reason;
};

class ConfinedReaderTakenOverTest
    : public ConfinedReaderTest,
      public testing::WithParamInterface<TakeOver> {};

TEST_P(ConfinedReaderTakenOverTest, HarmsNothingAndIsTold) {
  EXPECT_THAT(TakenOver(GetParam().name),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().reason)));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/bundle"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/records/written"));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ConfinedReaderTakenOverTest,
    testing::Values(TakeOver{"crash", "signal 11"},
                    TakeOver{"hold", "too much memory"},
                    TakeOver{"spin", "took too long"},
                    TakeOver{"flood", "more than 4194304 bytes"},
                    TakeOver{"escape", "status 9"},
                    TakeOver{"nonsense", "no explanation"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ConfinedReaderTest, HandsOnWhatIsChecked) {
  const absl::StatusOr<TrialExplanation> explanation = TakenOver("good");
  ASSERT_THAT(explanation, IsOk());
  EXPECT_EQ(explanation->heap_peak_bytes(), 5);
}

TEST_F(ConfinedReaderTest, NoRecordsAreNoFault) {
  EXPECT_THAT(ReadRecordsConfined(*root_, Records(), EmbeddedRecordReader()),
              StatusIs(absl::StatusCode::kNotFound));
}

// This test uses the real reader.
TEST_F(ConfinedReaderTest, ForgedRecordsAreRefused) {
  WriteTestFile(name_ + "/records/1.0.record", std::string(100000, 'x'));
  EXPECT_THAT(
      ReadRecordsConfined(*root_, Records(), EmbeddedRecordReader()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1.0.record")));
}

}  // namespace
}  // namespace footprint
