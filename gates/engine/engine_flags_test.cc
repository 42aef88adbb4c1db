#include "footprint/gates/engine/engine_flags.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class EngineFlagsTest : public testing::Test {
 protected:
  EngineFlagsTest() {
    host_.kernel = "Linux 1";
    std::filesystem::create_directories(TestPath("store"));
    std::filesystem::create_directories(TestPath("other_store"));
  }

  absl::StatusOr<absl::optional<EngineOptions>> Read(
      const std::vector<std::string>& arguments,
      const std::string& store = "store") const {
    GivenFlags given;
    for (const std::string& each : arguments) {
      const size_t end = each.find('=');
      given[each.substr(2, end - 2)] = each.substr(end + 1);
    }
    return ReadEngineFlags(given, TestPath(""), TestPath(store), host_);
  }

  void ExpectMistake(const std::vector<std::string>& arguments,
                     const std::string& message) const {
    EXPECT_THAT(Read(arguments), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr(message)));
  }

  HostDescription host_;
  const std::string engine_ = "--engine=true {bundle} {order} {result}";
  const std::string key_ =
      "--engine_key=" + WriteTestFile("engine_key", "sixteen bytes, or more\n");
};

TEST_F(EngineFlagsTest, WithoutAnEngineThereIsNone) {
  const auto engine = Read({});
  ASSERT_THAT(engine, IsOk());
  EXPECT_FALSE(engine->has_value());
}

TEST_F(EngineFlagsTest, TheDefaultsAreThoseOfTheHelp) {
  const auto engine = Read({engine_, key_});
  ASSERT_THAT(engine, IsOk());
  ASSERT_TRUE(engine->has_value());
  EXPECT_EQ((*engine)->key, "sixteen bytes, or more");
  EXPECT_EQ((*engine)->most_wait, absl::Minutes(10));
  EXPECT_EQ((*engine)->most_attempts, 3);
  EXPECT_EQ((*engine)->environment, HostText(host_));
  EXPECT_THAT((*engine)->folder, StartsWith(TestPath("store/trials-")));
  EXPECT_TRUE(std::filesystem::is_directory((*engine)->folder));
}

TEST_F(EngineFlagsTest, EachStoreHasItsOwnFolder) {
  const auto engine = Read({engine_, key_, "--engine_folder=shared"});
  ASSERT_THAT(engine, IsOk());
  EXPECT_THAT((*engine)->folder, HasSubstr("/shared/trials-"));
  EXPECT_EQ(std::filesystem::status((*engine)->folder).permissions(),
            std::filesystem::perms::owner_all);
  ExpectMistake({engine_, key_, "--engine_folder="}, "names no folder");
  // The same after the next start, and not that of another store.
  const auto again = Read({engine_, key_, "--engine_folder=shared"});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->folder, (*engine)->folder);
  const auto other =
      Read({engine_, key_, "--engine_folder=shared"}, "other_store");
  ASSERT_THAT(other, IsOk());
  EXPECT_NE((*other)->folder, (*engine)->folder);
  WriteTestFile("other_store/engine_name", "../../../../tmp\n");
  EXPECT_THAT(Read({engine_, key_}, "other_store"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("engine_name: is not 16")));
}

// A server removes what is in its folder.
TEST_F(EngineFlagsTest, RefusesAFolderThatIsALink) {
  const auto engine = Read({engine_, key_, "--engine_folder=linked"});
  ASSERT_THAT(engine, IsOk());
  std::filesystem::remove((*engine)->folder);
  std::filesystem::create_directory_symlink(TestPath("store"),
                                            (*engine)->folder);
  EXPECT_THAT(Read({engine_, key_, "--engine_folder=linked"}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is not a folder of this user")));
}

TEST_F(EngineFlagsTest, RefusesWhatIsWrongOrHasNoEffect) {
  ExpectMistake({key_}, "--engine_key has no effect without --engine");
  ExpectMistake({engine_}, "needs --engine_key");
  ExpectMistake({engine_, key_, "--lowmem=run"}, "--lowmem has no effect");
  ExpectMistake({"--engine=true {bundel}", key_}, "did you mean \"bundle\"?");
  ExpectMistake({"--engine=true > log", key_}, "no shell reads");
  for (const char* wait : {"-1", "soon", "99999999", ""}) {
    ExpectMistake({engine_, key_, std::string("--engine_wait=") + wait},
                  "--engine_wait must be a number of seconds");
  }
  for (const char* attempts : {"0", "101", "x"}) {
    ExpectMistake({engine_, key_, std::string("--engine_attempts=") + attempts},
                  "--engine_attempts must be a number");
  }
  ExpectMistake({engine_, "--engine_key=" + WriteTestFile("short_key", "key")},
                "at least 16 bytes");
}

TEST_F(EngineFlagsTest, TheEnginesHostsMayBeOfAnotherKind) {
  HostDescription other;
  other.kernel = "Linux 2";
  other.present = {"seccomp"};
  const std::string path = WriteTestFile("host", HostText(other));
  auto engine = Read({engine_, key_, "--engine_host=" + path});
  ASSERT_THAT(engine, IsOk());
  EXPECT_EQ((*engine)->environment, HostText(other));
  // This host need not be able to run trials.
  host_.missing = {"seccomp: none"};
  engine = Read({engine_, key_, "--engine_host=" + path});
  ASSERT_THAT(engine, IsOk());
  EXPECT_EQ((*engine)->environment, HostText(other));
  EXPECT_THAT(Read({engine_, key_}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--engine_host=FILE")));
  ExpectMistake(
      {engine_, key_, "--engine_host=" + WriteTestFile("no_host", "Linux 2\n")},
      "is not what `try --host` prints");
}

}  // namespace
}  // namespace footprint
