#include "footprint/gates/trend/profile_store.h"

#include <sys/resource.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/trend/commit_history.h"
#include "footprint/gates/trend/commit_profiles.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A server of objects, as of a remote cache.
class ObjectServer {
 public:
  ObjectServer() {
    server_.Get("/.*", [this](const httplib::Request& request,
                              httplib::Response& response) {
      const auto found = objects.find(request.path);
      response.status = answer != 0              ? answer
                        : found == objects.end() ? 404
                                                 : 200;
      if (response.status == 200) {
        response.set_content(found->second, "application/octet-stream");
      }
      authorization = request.get_header_value("Authorization");
    });
    server_.Put("/.*", [this](const httplib::Request& request,
                              httplib::Response& response) {
      response.status = answer != 0 ? answer : 201;
      if (response.status == 201) objects[request.path] = request.body;
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~ObjectServer() { Stop(); }

  void Stop() {
    while (thread_.joinable() && !server_.is_running()) {
      std::this_thread::yield();
    }
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  std::string Address() const {
    return absl::StrCat("http://127.0.0.1:", port_, "/footprint/");
  }

  // Both are changed between requests only.
  std::map<std::string, std::string> objects;
  int answer = 0;  // to every request; 0: as usual
  std::string authorization;

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

CommitProfiles Example() {
  CommitProfiles profiles;
  profiles.set_commit("4f0a");
  profiles.set_gate("//app:load.diff");
  MemoryProfile* const profile = profiles.add_profiles();
  profile->set_label("//app:load");
  return profiles;
}

std::unique_ptr<ProfileStore> Open(const std::string& address) {
  absl::StatusOr<std::unique_ptr<ProfileStore>> store =
      OpenProfileStore(address, "");
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

std::string NewFolder(const std::string& name) {
  const std::string folder = TestPath(name);
  fs::remove_all(folder);
  return folder;
}

TEST(ProfileStoreTest, AFolderKeepsWhatWasPut) {
  const std::string folder = NewFolder("store");
  const std::unique_ptr<ProfileStore> store = Open(folder);
  EXPECT_THAT(store->Get("a/b"), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(store->Put("a/b", std::string("x\0y", 3)), IsOk());
  EXPECT_THAT(store->Put("a/b", "new"), IsOk());
  const absl::StatusOr<std::string> read = store->Get("a/b");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, "new");
}

TEST(ProfileStoreTest, AServerKeepsWhatWasPut) {
  ObjectServer server;
  absl::StatusOr<std::unique_ptr<ProfileStore>> store =
      OpenProfileStore(server.Address(), "secret");
  ASSERT_THAT(store, IsOk());
  EXPECT_THAT((*store)->Get("a/b"), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT((*store)->Put("a/b", std::string("x\0y", 3)), IsOk());
  const absl::StatusOr<std::string> read = (*store)->Get("a/b");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, std::string("x\0y", 3));
  EXPECT_EQ(server.authorization, "Bearer secret");
  EXPECT_EQ(server.objects.count("/footprint/a/b"), 1u);
}

TEST(ProfileStoreTest, SaysWhyAServerDoesNotServe) {
  ObjectServer server;
  const std::unique_ptr<ProfileStore> store = Open(server.Address());
  for (const auto& [answer, code] :
       {std::pair(507, absl::StatusCode::kResourceExhausted),
        std::pair(413, absl::StatusCode::kResourceExhausted),
        std::pair(403, absl::StatusCode::kPermissionDenied),
        std::pair(503, absl::StatusCode::kUnavailable),
        std::pair(405, absl::StatusCode::kInvalidArgument)}) {
    server.answer = answer;
    EXPECT_THAT(store->Put("a/b", "x"),
                StatusIs(code, HasSubstr(absl::StrCat(answer))));
    EXPECT_THAT(store->Get("a/b"), StatusIs(code));
  }
  server.Stop();
  EXPECT_THAT(store->Get("a/b"), StatusIs(absl::StatusCode::kUnavailable,
                                          HasSubstr("does not answer")));
}

TEST(ProfileStoreTest, AnEndlessAnswerIsNotReadToItsEnd) {
  httplib::Server server;
  server.Get("/.*", [](const httplib::Request& /*request*/,
                       httplib::Response& response) {
    response.set_chunked_content_provider(
        "application/octet-stream", [](size_t, httplib::DataSink& sink) {
          const std::string piece(size_t{1} << 20, 'x');
          return sink.write(piece.data(), piece.size());
        });
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  const std::unique_ptr<ProfileStore> store =
      Open(absl::StrCat("http://127.0.0.1:", port, "/x"));
  EXPECT_THAT(store->Get("a/b"), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("sends more than")));
  server.stop();
  thread.join();
}

// A limit of file sizes has the same effect as a full disk.
TEST(ProfileStoreTest, AFullFolderIsNamedAndKeepsWhatItHas) {
  const std::string folder = NewFolder("full");
  const std::unique_ptr<ProfileStore> store = Open(folder);
  ASSERT_THAT(store->Put("a/b", "before"), IsOk());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = store->Put("a/b", std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("full/a/b")));
  EXPECT_THAT(store->Get("a/b"), IsOkAndHolds("before"));
  EXPECT_THAT(store->Put("a/b", "after"), IsOk());
  EXPECT_THAT(store->Get("a/b"), IsOkAndHolds("after"));
}

TEST(ProfileStoreTest, RefusesWhatIsNoAddress) {
  for (const char* const address :
       {"", "ftp://host/path", "http://", "http://host:99999/x"}) {
    EXPECT_THAT(OpenProfileStore(address, ""),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << address;
  }
}

TEST(CommitHistoryTest, ReadsTheCommitThatWasWritten) {
  const std::unique_ptr<ProfileStore> store = Open(NewFolder("commits"));
  CommitHistory history(store.get());
  ASSERT_THAT(history.Write(Example()), IsOk());
  const absl::StatusOr<CommitProfiles> read =
      history.Read("4f0a", "//app:load.diff");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->profiles(0).label(), "//app:load");
  EXPECT_THAT(history.Read("4f0b", "//app:load.diff"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(history.Read("4f0a", "//app:other.diff"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(CommitHistoryTest, AddLeavesWhatIsThere) {
  const std::unique_ptr<ProfileStore> store = Open(NewFolder("added"));
  CommitHistory history(store.get());
  CommitProfiles recorded = Example();
  recorded.add_limits()->set_limit(2000);
  CommitProfiles other = Example();
  other.add_inputs("app/BUILD");
  const auto read = [&] {
    return history.Read(recorded.commit(), recorded.gate());
  };
  ASSERT_THAT(history.Add(other), IsOk());
  EXPECT_THAT(read()->inputs(), ::testing::ElementsAre("app/BUILD"));
  ASSERT_THAT(history.Write(recorded), IsOk());
  ASSERT_THAT(history.Add(other), IsOk());
  ASSERT_THAT(read(), IsOk());
  EXPECT_THAT(read()->inputs(), ::testing::IsEmpty());
  EXPECT_EQ(read()->limits(0).limit(), 2000);
  // Damage is no record.
  ASSERT_THAT(
      store->Put(NameCommitObject(other.commit(), other.gate()), "half"),
      IsOk());
  ASSERT_THAT(history.Add(other), IsOk());
  EXPECT_THAT(read(), IsOk());
}

TEST(CommitHistoryTest, EveryDamageIsSeen) {
  const std::unique_ptr<ProfileStore> store = Open(NewFolder("damaged"));
  CommitHistory history(store.get());
  ASSERT_THAT(history.Write(Example()), IsOk());
  const std::string name = NameCommitObject("4f0a", "//app:load.diff");
  const absl::StatusOr<std::string> whole = store->Get(name);
  ASSERT_THAT(whole, IsOk());
  for (size_t i = 0; i < whole->size(); ++i) {
    std::string changed = *whole;
    changed[i] = static_cast<char>(changed[i] ^ 16);
    ASSERT_THAT(store->Put(name, changed), IsOk());
    EXPECT_THAT(history.Read("4f0a", "//app:load.diff"),
                StatusIs(absl::StatusCode::kDataLoss))
        << i;
    ASSERT_THAT(store->Put(name, whole->substr(0, i)), IsOk());
    EXPECT_THAT(history.Read("4f0a", "//app:load.diff"),
                StatusIs(absl::StatusCode::kDataLoss))
        << i;
  }
  // Another commit's object under this name.
  ASSERT_THAT(store->Put(NameCommitObject("77", "//app:load.diff"), *whole),
              IsOk());
  EXPECT_THAT(history.Read("77", "//app:load.diff"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("another")));
}

TEST(CommitHistoryTest, NamesOfTwoGatesDiffer) {
  EXPECT_EQ(NameCommitObject("4f", "//app/in:load.diff"),
            "app+in+3a+load.diff/4f.binpb");
  EXPECT_NE(NameCommitObject("4f", "//a:b"), NameCommitObject("4f", "//a/b"));
}

}  // namespace
}  // namespace footprint
