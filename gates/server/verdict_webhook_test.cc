#include "footprint/gates/server/verdict_webhook.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/server/hmac_sha256.h"
#include "footprint/gates/store/bundle_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kKey[] = "0123456789abcdef";

// An HTTP server that keeps what it was sent, and gives the answers that it was
// told to, then 200.
class Receiver {
 public:
  // `port` 0 stands for any.
  explicit Receiver(std::vector<int> answers = {}, int port = 0)
      : answers_(std::move(answers)) {
    server_.Post("/hook", [this](const httplib::Request& request,
                                 httplib::Response& response) {
      MutexLock lock(&mutex_);
      bodies_.push_back(request.body);
      signatures_.push_back(request.get_header_value("X-Footprint-Signature"));
      types_.push_back(request.get_header_value("Content-Type"));
      response.status = bodies_.size() <= answers_.size()
                            ? answers_[bodies_.size() - 1]
                            : 200;
      response.set_header("Location", "/hook");
    });
    port_ = port;
    if (port == 0) {
      port_ = server_.bind_to_any_port("127.0.0.1");
    } else {
      EXPECT_TRUE(server_.bind_to_port("127.0.0.1", port));
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) usleep(1000);
  }
  ~Receiver() {
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }
  std::string url() const {
    return absl::StrCat("http://127.0.0.1:", port_, "/hook");
  }
  // Waits until there are `count` requests, and returns their bodies.
  std::vector<std::string> Await(size_t count) {
    while (true) {
      {
        MutexLock lock(&mutex_);
        if (bodies_.size() >= count) return bodies_;
      }
      usleep(1000);
    }
  }
  std::vector<std::string> signatures() {
    MutexLock lock(&mutex_);
    return signatures_;
  }
  std::vector<std::string> types() {
    MutexLock lock(&mutex_);
    return types_;
  }

 private:
  const std::vector<int> answers_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  Mutex mutex_;
  std::vector<std::string> bodies_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> signatures_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> types_ ABSL_GUARDED_BY(mutex_);
};

// Accepts one connection by its backlog alone, and never answers.
class SilentReceiver {
 public:
  SilentReceiver() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    EXPECT_EQ(bind(listener_.get(), address(), size), 0);
    EXPECT_EQ(listen(listener_.get(), 0), 0);
    EXPECT_EQ(getsockname(listener_.get(), address(), &size), 0);
  }

  std::string url() const {
    return absl::StrCat("http://127.0.0.1:", ntohs(address_.sin_port), "/hook");
  }
  FileDescriptor Accept() const {
    return FileDescriptor(accept(listener_.get(), nullptr, nullptr));
  }
  FileDescriptor Connect() const {
    FileDescriptor caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(
        connect(caller.get(), reinterpret_cast<const sockaddr*>(&address_),
                sizeof(address_)),
        0);
    return caller;
  }
  // Returns whether somebody tries to connect, and was not let in.
  bool HasCaller() const {
    constexpr char kSynSent[] = " 02 ";
    return absl::StrContains(
        ReadTestFile("/proc/self/net/tcp"),
        absl::StrCat(" 0100007F:",
                     absl::AsciiStrToUpper(absl::StrCat(
                         absl::Hex(ntohs(address_.sin_port), absl::kZeroPad4))),
                     kSynSent));
  }

 private:
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&address_); }

  FileDescriptor listener_;
  sockaddr_in address_ = {};
};

std::string BodyOf(const std::string& key) {
  return absl::StrCat("{\"event\":\"verdict\",\"trial\":{\"id\":\"", key,
                      "\"}}\n");
}

class VerdictWebhookTest : public testing::Test {
 protected:
  void SetUp() override {
    name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    absl::StatusOr<std::unique_ptr<TrialStore>> store =
        TrialStore::Open(TestPath(name_), {});
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  // Submits a bundle and decides its trial.
  void Decide(const std::string& key) {
    const std::string sha256 = Sha256Hex(key);
    absl::StatusOr<BundleUpload> upload =
        store_->StartUpload(sha256, static_cast<int64_t>(key.size()));
    ASSERT_THAT(upload, IsOk());
    ASSERT_THAT(upload->Append(key), IsOk());
    ASSERT_THAT(upload->Finish(), IsOk());
    NewTrial trial;
    trial.key = key;
    trial.bundle_sha256 = sha256;
    ASSERT_THAT(store_->Submit(trial), IsOk());
    ASSERT_THAT(store_->Decide((**store_->Claim()).sequence, {0, "", "r"}),
                IsOk());
  }

  std::unique_ptr<VerdictWebhook> MakeWebhook(const std::string& url) {
    WebhookOptions options;
    options.url = url;
    options.key = kKey;
    options.position_path = TestPath(name_ + ".position");
    options.first_pause = absl::Milliseconds(1);
    options.most_pause = absl::Milliseconds(10);
    options.time_limit = time_limit_;
    options.write_trial =
        [was_busy = false](
            const std::string& key) mutable -> absl::StatusOr<std::string> {
      if (key == "damaged") return absl::DataLossError("its seal is broken");
      if (key == "busy" && !was_busy) {
        was_busy = true;
        return absl::ResourceExhaustedError("no memory");
      }
      return absl::StrCat("{\"id\":\"", key, "\"}");
    };
    options.report = [this](absl::string_view line) {
      MutexLock lock(&mutex_);
      absl::StrAppend(&reports_, line, "\n");
    };
    return std::make_unique<VerdictWebhook>(store_.get(), std::move(options));
  }
  std::unique_ptr<VerdictWebhook> StartWebhook(const std::string& url) {
    std::unique_ptr<VerdictWebhook> webhook = MakeWebhook(url);
    EXPECT_THAT(webhook->Start(), IsOk());
    return webhook;
  }
  std::string reports() {
    MutexLock lock(&mutex_);
    return reports_;
  }

  std::string name_;
  absl::Duration time_limit_ = absl::Seconds(10);
  std::unique_ptr<TrialStore> store_;
  Mutex mutex_;
  std::string reports_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(VerdictWebhookTest, EachVerdictIsToldOnceInOrderAndSigned) {
  Decide("before the first start");
  Receiver receiver;
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  Decide("b");
  receiver.Await(2);
  Decide("c");
  EXPECT_THAT(receiver.Await(3),
              ElementsAre(BodyOf("a"), BodyOf("b"), BodyOf("c")));
  EXPECT_EQ(receiver.signatures()[0],
            "sha256=" + HmacSha256Hex(kKey, BodyOf("a")));
  EXPECT_EQ(receiver.types()[0], "application/json");
  EXPECT_EQ(reports(), "");
}

TEST_F(VerdictWebhookTest, AFailureIsTriedUntilItSucceeds) {
  Receiver receiver({500, 503, 429, 408, 500, 502, 504});
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  Decide("b");
  const std::vector<std::string> bodies = receiver.Await(9);
  EXPECT_EQ(bodies,
            std::vector<std::string>({BodyOf("a"), BodyOf("a"), BodyOf("a"),
                                      BodyOf("a"), BodyOf("a"), BodyOf("a"),
                                      BodyOf("a"), BodyOf("a"), BodyOf("b")}));
  EXPECT_THAT(reports(), HasSubstr("answer 503; trial a is sent again in 2ms"));
}

TEST_F(VerdictWebhookTest, AnAnswerWithoutContentIsTaken) {
  Receiver receiver({204, 201, 202});
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  Decide("b");
  Decide("c");
  Decide("d");
  EXPECT_THAT(receiver.Await(4),
              ElementsAre(BodyOf("a"), BodyOf("b"), BodyOf("c"), BodyOf("d")));
  EXPECT_EQ(reports(), "");
}

TEST_F(VerdictWebhookTest, AVerdictThatCannotBeReadYetIsSentLater) {
  Receiver receiver;
  const auto webhook = StartWebhook(receiver.url());
  Decide("busy");
  Decide("b");
  EXPECT_THAT(receiver.Await(2), ElementsAre(BodyOf("busy"), BodyOf("b")));
  EXPECT_THAT(reports(), HasSubstr("trial busy is not sent yet: no memory"));
}

TEST_F(VerdictWebhookTest, ARefusedVerdictIsGivenUpAndTheNextFollows) {
  // A redirection is not followed.
  Receiver receiver({400, 401, 404, 302, 410});
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  Decide("damaged");
  Decide("b");
  const std::vector<std::string> bodies = receiver.Await(6);
  EXPECT_EQ(bodies[4], BodyOf("a"));
  EXPECT_EQ(bodies[5], BodyOf("b"));
  EXPECT_THAT(reports(), HasSubstr("answer 410; trial a is given up"));
  EXPECT_THAT(reports(), HasSubstr("trial damaged is not sent: its seal"));
}

TEST_F(VerdictWebhookTest, VerdictsOfAReceiverThatIsDownComeLater) {
  int port = 0;
  {
    const Receiver gone;
    port = gone.port();
  }
  const std::string url = absl::StrCat("http://127.0.0.1:", port, "/hook");
  auto webhook = StartWebhook(url);
  Decide("a");
  while (!absl::StrContains(reports(), "no answer")) usleep(1000);
  // Nobody waits for the receiver, and a restart loses nothing.
  Decide("b");
  webhook->Stop();
  Decide("c");
  webhook = StartWebhook(url);
  Receiver receiver({}, port);
  EXPECT_THAT(receiver.Await(3),
              ElementsAre(BodyOf("a"), BodyOf("b"), BodyOf("c")));
}

TEST_F(VerdictWebhookTest, ARestartRepeatsNothing) {
  Receiver receiver;
  auto webhook = StartWebhook(receiver.url());
  Decide("a");
  receiver.Await(1);
  const std::string position = TestPath(name_ + ".position");
  while (ReadTestFile(position) != absl::StrCat("1 ", receiver.url(), "\n")) {
    usleep(1000);
  }
  webhook->Stop();
  Decide("b");
  webhook = StartWebhook(receiver.url());
  EXPECT_THAT(receiver.Await(2), ElementsAre(BodyOf("a"), BodyOf("b")));
  webhook->Stop();
  // Another receiver is not told of what the first one knows.
  Receiver other;
  webhook = StartWebhook(other.url());
  Decide("c");
  EXPECT_THAT(other.Await(1), ElementsAre(BodyOf("c")));
  EXPECT_EQ(receiver.Await(2).size(), 2u);
}

// The time limit is so long that the test would not end if Stop waited for it.
TEST_F(VerdictWebhookTest, StopEndsARequestThatHasNoAnswer) {
  time_limit_ = absl::Hours(1);
  const SilentReceiver receiver;
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  const FileDescriptor connection = receiver.Accept();
  char byte = 0;
  ASSERT_EQ(read(connection.get(), &byte, 1), 1) << "the request was sent";
  webhook->Stop();
  EXPECT_EQ(reports(), "");
}

TEST_F(VerdictWebhookTest, StopEndsAConnectionThatIsBeingMade) {
  time_limit_ = absl::Hours(1);
  const SilentReceiver receiver;
  // The kernel lets nobody connect until this connection is accepted.
  const FileDescriptor first = receiver.Connect();
  const auto webhook = StartWebhook(receiver.url());
  Decide("a");
  while (!receiver.HasCaller()) usleep(1000);
  webhook->Stop();
  EXPECT_EQ(reports(), "");
}

// Stop may come while the host's name is looked for, before there is a socket.
TEST_F(VerdictWebhookTest, StopEndsARequestThatBegins) {
  time_limit_ = absl::Hours(1);
  const SilentReceiver receiver;
  const std::string url =
      absl::StrReplaceAll(receiver.url(), {{"127.0.0.1", "localhost"}});
  StartWebhook(url)->Stop();
  Decide("a");
  for (int i = 0; i < 100; ++i) {
    const auto webhook = StartWebhook(url);
    usleep(static_cast<useconds_t>(10 * i));
    webhook->Stop();
  }
  EXPECT_EQ(reports(), "");
}

TEST_F(VerdictWebhookTest, AFaultyPositionIsAnError) {
  for (const char* text : {"", "x http://a/b\n", "-1 http://a/b\n", "7\n"}) {
    WriteTestFile(name_ + ".position", text);
    EXPECT_THAT(MakeWebhook("http://127.0.0.1:1/hook")->Start(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is no position of a webhook; remove it")))
        << text;
  }
  // The position is of a newer database, of which a backup was restored.
  Receiver receiver;
  WriteTestFile(name_ + ".position",
                absl::StrCat("1000 ", receiver.url(), "\n"));
  auto webhook = StartWebhook(receiver.url());
  webhook->Stop();
  EXPECT_EQ(ReadTestFile(TestPath(name_ + ".position")),
            absl::StrCat("0 ", receiver.url(), "\n"));
  webhook = StartWebhook(receiver.url());
  Decide("a");
  EXPECT_THAT(receiver.Await(1), ElementsAre(BodyOf("a")));
}

TEST_F(VerdictWebhookTest, WrongAddressesAndKeysAreRefused) {
  EXPECT_THAT(CheckWebhook("http://ci:80/hook?a=b", kKey), IsOk());
  EXPECT_THAT(CheckWebhook("http://[::1]:80", kKey), IsOk());
  for (const char* url :
       {"", "ci:80/hook", "ftp://ci/hook", "http://", "http:///hook",
        "http://ci:x/hook", "http://ci:99999/", "http://ci/a b",
        "http://ci/a\r\nX: y", "http://user:word@ci/hook",
        "http://user@ci/hook", "http://ci?x", "http://ci#x/hook",
        "http://[fe80::1%eth0]/hook", "http://ci/\xc3\xa4"}) {
    EXPECT_THAT(CheckWebhook(url, kKey),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << url;
  }
  EXPECT_THAT(CheckWebhook("http://ci/hook", "short"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("at least 16 bytes")));
}

}  // namespace
}  // namespace footprint
