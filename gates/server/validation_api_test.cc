#include "footprint/gates/server/validation_api.h"

#include "absl/status/status.h"
#include "footprint/base/files/sha256.h"
#include "footprint/gates/server/example_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(ValidationApiTest, AnswersARequest) {
  ExampleServer server("answers");
  ApiRequest request = {"GET", "/v1/trials", {}, server.token()};
  EXPECT_EQ(server.api()->Answer(request).body, "{\"trials\":[]}\n");
  request.path = "/v1/trials/" + Sha256Hex("none");
  const ApiResponse none = server.api()->Answer(request);
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("{\"error\":{\"code\":\"not_found\""));
}

TEST(ValidationApiTest, PathsAreTakenWhole) {
  ExampleServer server("paths");
  const std::string id = Sha256Hex("none");
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("v1/trials"),
        std::string("/v1/trials/"), std::string("//v1/trials"),
        std::string("/v1/trials/*"), std::string("/v1/trials/*/verdict"),
        "/v1/trials/" + id + "/", "/v1/trials/" + id + "/verdict/more",
        "/v1/compare/" + id, std::string("/v1/trials/../metrics"),
        std::string("/v2/trials")}) {
    const ApiRequest request = {"GET", path, {}, server.token()};
    EXPECT_EQ(server.api()->Answer(request).status, 404) << path;
  }
}

TEST(ValidationApiTest, ErrorsHaveTheirStatus) {
  EXPECT_EQ(ErrorResponse(absl::InvalidArgumentError("x")).status, 400);
  EXPECT_EQ(ErrorResponse(absl::NotFoundError("x")).status, 404);
  EXPECT_EQ(ErrorResponse(absl::ResourceExhaustedError("x")).status, 507);
  EXPECT_EQ(ErrorResponse(absl::DataLossError("x")).status, 500);
  const ApiResponse busy = ErrorResponse(absl::UnavailableError("\xff\"<"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.headers.at("Retry-After"), "1");
  EXPECT_THAT(busy.body, HasSubstr("\\ufffd\\\"<"));
}

}  // namespace
}  // namespace footprint
