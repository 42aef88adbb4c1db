// Tests of the promises of model_file.h.

#include "footprint/gates/deployments/tabular/estimators/model_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kEstimator[] = "linear_regression";

Model SmallModel() { return Model{kEstimator, 2, {1.5, -2, 1e-300}}; }

std::string Path() { return testing::TempDir() + "/small.model"; }

std::string ValidBytes() {
  EXPECT_THAT(SaveModel(SmallModel(), Path()), IsOk());
  std::ifstream file(Path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::Status TryRead(const std::string& bytes) {
  std::ofstream(Path(), std::ios::binary) << bytes;
  return LoadModel(Path(), kEstimator).status();
}

TEST(ModelFileTest, LoadsWhatWasSaved) {
  ASSERT_THAT(SaveModel(SmallModel(), Path()), IsOk());
  const absl::StatusOr<Model> model = LoadModel(Path(), kEstimator);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->estimator, kEstimator);
  EXPECT_EQ(model->feature_count, 2u);
  EXPECT_EQ(model->parameters, SmallModel().parameters);
}

TEST(ModelFileTest, RefusesAMissingFile) {
  const absl::Status status = LoadModel("/missing", kEstimator).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/missing"));
}

TEST(ModelFileTest, RefusesAnotherEstimatorsModel) {
  ASSERT_THAT(SaveModel(SmallModel(), Path()), IsOk());
  const absl::Status status = LoadModel(Path(), "neural_network").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is a model of \"linear_regression\""));
}

TEST(ModelFileTest, RefusesAForeignFile) {
  for (
      const std::string& bytes :
      {std::string(200, 'x'),
       SafetensorsBytes(
           R"({"parameters":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})",
           "12345678")}) {
    EXPECT_THAT(TryRead(bytes), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(ModelFileTest, RefusesEveryTruncationAndExtension) {
  const std::string bytes = ValidBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(TryRead(bytes.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
  EXPECT_THAT(TryRead(bytes + "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ModelFileTest, RefusesDamagedParameters) {
  std::string bytes = ValidBytes();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const absl::Status status = TryRead(bytes);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is damaged"));
}

TEST(ModelFileTest, RefusesEveryFlippedBit) {
  const std::string bytes = ValidBytes();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(TryRead(damaged), Not(IsOk())) << "bit " << bit;
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
