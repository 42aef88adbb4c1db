#include "footprint/gates/server/request_front.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/gates/server/example_server.h"
#include "footprint/gates/server/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr char kHealth[] = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n";

// A client that sends as slowly as the test wants.
class SlowClient {
 public:
  explicit SlowClient(int port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address),
                      sizeof(address)),
              0);
  }

  // Returns whether the server still accepted the bytes.
  bool Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent =
          send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Returns whether the server answers or hangs up within the time.
  bool IsAnswered(int milliseconds) const {
    pollfd awaited = {socket_.get(), POLLIN, 0};
    return poll(&awaited, 1, milliseconds) > 0;
  }

  // Returns all that the server sends until it hangs up.
  std::string Answer() {
    std::string answer;
    char piece[4096];
    ssize_t size = 0;
    while ((size = recv(socket_.get(), piece, sizeof(piece), 0)) > 0) {
      answer.append(piece, static_cast<size_t>(size));
    }
    return answer;
  }

 private:
  const FileDescriptor socket_;
};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Anybody may send these requests, since they have no token.
TEST(RequestFrontTest, NoHeaderTakesMuchMemory) {
  constexpr int64_t kMostSentBytes = 64 << 20;
  constexpr int64_t kMostTakenBytes = 16 << 20;
  const ExampleServer server("large_headers");
  // The first request allocates what stays.
  ExchangeBytes(server.port(), kHealth);
  const std::string piece(1 << 16, 'a');
  std::string lines;
  while (lines.size() < piece.size()) lines += "Name: value\r\n";
  for (const auto& [begin, more] :
       {std::pair<std::string, std::string>("GET /", piece),
        {"GET / HTTP/1.1\r\nName: ", piece},
        {"GET / HTTP/1.1\r\n", lines},
        {"", std::string(1 << 16, '\0')}}) {
    const int64_t before = ReadResidentBytes().peak_bytes;
    SlowClient client(server.port());
    client.Send(begin);
    int64_t sent_bytes = 0;
    while (sent_bytes < kMostSentBytes && client.Send(more)) {
      sent_bytes += static_cast<int64_t>(more.size());
    }
    EXPECT_LT(sent_bytes, kMostSentBytes) << begin;
    EXPECT_LT(ReadResidentBytes().peak_bytes - before, kMostTakenBytes)
        << begin;
  }
  EXPECT_THAT(ExchangeBytes(server.port(), kHealth), HasSubstr(" 200 "));
}

TEST(RequestFrontTest, ABoundIsToldWithItsNumber) {
  const ExampleServer server("bounds");
  SlowClient client(server.port());
  ASSERT_TRUE(
      client.Send("GET / HTTP/1.1\r\nName: " + std::string(17000, 'a')));
  EXPECT_THAT(client.Answer(),
              testing::AllOf(HasSubstr("HTTP/1.1 431 "), HasSubstr("16384")));
  std::string lines = "GET /v1/health HTTP/1.1\r\n";
  for (int i = 0; i < 101; ++i) lines += "A: b\r\n";
  EXPECT_THAT(ExchangeBytes(server.port(), lines + "\r\n"),
              HasSubstr("HTTP/1.1 431 "));
}

TEST(RequestFrontTest, SlowHeadersStopNobody) {
  const ExampleServer server("slow_headers");
  std::list<SlowClient> slow;
  // There are more clients than threads, and then more than places for
  // connections.
  for (const size_t count : {40u, 300u}) {
    while (slow.size() < count) {
      slow.emplace_back(server.port());
      ASSERT_TRUE(slow.back().Send("GET /v1/health HTTP/1.1\r\nName: "));
    }
    const Clock::time_point begin = Clock::now();
    EXPECT_THAT(ExchangeBytes(server.port(), kHealth), HasSubstr(" 200 "));
    EXPECT_LT(SecondsSince(begin), 5);
  }
  // The newest client can still complete its request.
  ASSERT_TRUE(slow.back().Send("value\r\n\r\n"));
  EXPECT_THAT(slow.back().Answer(), HasSubstr(" 200 "));
  // The oldest client was closed to make room.
  EXPECT_TRUE(slow.front().IsAnswered(5000));
  EXPECT_EQ(slow.front().Answer(), "");
}

// An occasional byte does not extend the deadline.
TEST(RequestFrontTest, AHeaderHasOneDeadline) {
  HttpServerOptions options;
  options.idle_seconds = 1;
  const ExampleServer server("deadline", options);
  SlowClient client(server.port());
  ASSERT_TRUE(client.Send("GET /v1/health HTTP/1.1\r\nName: "));
  int sent_count = 0;
  while (sent_count < 40 && !client.IsAnswered(200)) {
    client.Send("a");
    ++sent_count;
  }
  EXPECT_LT(sent_count, 40);
  EXPECT_THAT(client.Answer(), HasSubstr("HTTP/1.1 408 "));
}

TEST(RequestFrontTest, AHeaderMayComeInPieces) {
  const ExampleServer server("pieces");
  SlowClient client(server.port());
  for (const char each : absl::string_view(kHealth)) {
    ASSERT_TRUE(client.Send(absl::string_view(&each, 1)));
  }
  EXPECT_THAT(client.Answer(), HasSubstr(" 200 "));
}

// The server does not wait for a body that the client may not send.
TEST(RequestFrontTest, SlowBodiesWithoutATokenHoldNoThread) {
  HttpServerOptions options;
  options.thread_count = 1;
  const ExampleServer server("slow_bodies", options);
  SlowClient client(server.port());
  ASSERT_TRUE(
      client.Send("POST /v1/trials?sha256=x HTTP/1.1\r\nHost: x\r\n"
                  "Content-Length: 60000\r\n\r\n"));
  int sent_count = 0;
  while (sent_count < 60 && !client.IsAnswered(200)) {
    client.Send("a");
    ++sent_count;
  }
  EXPECT_LT(sent_count, 60);
  EXPECT_THAT(client.Answer(), HasSubstr(" 401 "));
  EXPECT_THAT(ExchangeBytes(server.port(), kHealth), HasSubstr(" 200 "));
}

}  // namespace
}  // namespace footprint
