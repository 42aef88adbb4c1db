#include "footprint/gates/server/request_front.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace footprint {
namespace {

constexpr size_t kPieceBytes = 4096;
// The time that a refused client has to read its answer.
constexpr auto kLeavingTime = std::chrono::seconds(1);
// The most bytes from a refused client that are discarded.
constexpr int64_t kMostPassedBytes = 1 << 20;
// If an answer fits in the send buffer, no thread waits for a slow reader.
constexpr int kSendBufferBytes = 256 << 10;
// The pause before the next accept if the system has no descriptors left.
constexpr unsigned kNoRoomMicroseconds = 10000;
constexpr int kMostEvents = 64;

enum class Header { kPartial, kWhole, kTooLarge };

// A header ends with an empty line, in the form that httplib's reader accepts.
Header FindHeaderState(const std::string& bytes,
                       const RequestFrontOptions& options) {
  const size_t end = bytes.find("\n\r\n");
  const bool is_whole = end != std::string::npos;
  const auto lines = std::count(
      bytes.begin(),
      is_whole ? bytes.begin() + static_cast<int64_t>(end) : bytes.end(), '\n');
  if (lines > options.most_header_lines) return Header::kTooLarge;
  if (is_whole) return Header::kWhole;
  return bytes.size() < options.most_header_bytes ? Header::kPartial
                                                  : Header::kTooLarge;
}

uint32_t ToEpollEvent(short event) {
  return event == POLLOUT ? uint32_t{EPOLLOUT} : uint32_t{EPOLLIN};
}

bool Watch(int poll, int operation, int socket, uint32_t events, void* what) {
  epoll_event event = {};
  event.events = events;
  event.data.ptr = what;
  return epoll_ctl(poll, operation, socket, &event) == 0;
}

}  // namespace

bool RequestFront::Start() {
  poll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poll_.is_open() || !wake_.is_open() ||
      !Watch(poll_.get(), EPOLL_CTL_ADD, wake_.get(), EPOLLIN, &wake_) ||
      !Watch(poll_.get(), EPOLL_CTL_ADD, options_.listening_socket, EPOLLIN,
             this)) {
    return false;
  }
  thread_ = std::thread([this] { Work(); });
  return true;
}

void RequestFront::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  if (!thread_.joinable()) return;
  Wake();
  thread_.join();
}

void RequestFront::Wake() const {
  const uint64_t one = 1;
  // If the counter is full, the write fails, but the thread wakes up all the
  // same.
  if (write(wake_.get(), &one, sizeof(one)) < 0) return;
}

absl::optional<ArrivedRequest> RequestFront::Next() {
  absl::optional<ArrivedRequest> next;
  MutexLock lock(&mutex_);
  while (ready_.empty() && !is_stopping_) changed_.Wait(&mutex_);
  if (ready_.empty()) return next;
  if (ready_.size() == options_.most_ready) Wake();
  next = std::move(ready_.front());
  ready_.pop_front();
  return next;
}

bool RequestFront::HasRoom() {
  MutexLock lock(&mutex_);
  return ready_.size() < options_.most_ready;
}

void RequestFront::Work() {
  epoll_event events[kMostEvents];
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (is_stopping_) break;
    }
    const bool has_room = HasRoom();
    if (has_room != is_accepting_) {
      Watch(poll_.get(), EPOLL_CTL_MOD, options_.listening_socket,
            has_room ? uint32_t{EPOLLIN} : 0, this);
      is_accepting_ = has_room;
    }
    const int count =
        epoll_wait(poll_.get(), events, kMostEvents, WaitMilliseconds());
    bool accepts = false;
    for (int i = 0; i < count; ++i) {
      void* const what = events[i].data.ptr;
      if (what == &wake_) {
        uint64_t ignored = 0;
        if (read(wake_.get(), &ignored, sizeof(ignored)) < 0) continue;
      } else if (what == this) {
        accepts = true;
      } else {
        Advance(static_cast<Pending*>(what));
      }
    }
    // New connections come after the events, since one may close an old
    // connection that has an event in this batch.
    if (accepts) Accept();
    EndLate();
  }
  pending_.clear();
}

int RequestFront::WaitMilliseconds() const {
  if (pending_.empty()) return -1;
  Clock::time_point first = Clock::time_point::max();
  for (const Pending& each : pending_) first = std::min(first, each.deadline);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      first - Clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count() + 1));
}

void RequestFront::Accept() {
  while (HasRoom()) {
    FileDescriptor socket(accept4(options_.listening_socket, nullptr, nullptr,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
        if (pending_.empty()) usleep(kNoRoomMicroseconds);
        if (!pending_.empty()) Remove(&pending_.front());
      }
      return;
    }
    Add(std::move(socket));
  }
}

void RequestFront::Add(FileDescriptor socket) {
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes,
             sizeof(kSendBufferBytes));
  if (pending_.size() >= options_.most_connections) Remove(&pending_.front());
  Pending pending;
  pending.connection = options_.connect(std::move(socket));
  if (pending.connection == nullptr) return;
  pending.deadline = Clock::now() + options_.header_time;
  pending_.push_back(std::move(pending));
  Pending* const added = &pending_.back();
  if (!Watch(poll_.get(), EPOLL_CTL_ADD, added->connection->socket(), EPOLLIN,
             added)) {
    pending_.pop_back();
    return;
  }
  // Usually the header has already arrived.
  Advance(added);
}

void RequestFront::Advance(Pending* pending) {
  const bool stays =
      pending->is_leaving ? PassOver(pending) : ReadHeader(pending);
  if (!stays) Remove(pending);
}

bool RequestFront::ReadHeader(Pending* pending) {
  char piece[kPieceBytes];
  while (true) {
    const size_t room = options_.most_header_bytes - pending->bytes.size();
    const Connection::Progress read =
        pending->connection->Read(piece, std::min(room, sizeof(piece)));
    if (read.bytes <= 0) {
      if (read.awaited != 0) Await(read.awaited, pending);
      return read.awaited != 0;
    }
    pending->bytes.append(piece, static_cast<size_t>(read.bytes));
    switch (FindHeaderState(pending->bytes, options_)) {
      case Header::kPartial:
        break;
      case Header::kWhole:
        GiveOn(pending);
        return false;
      case Header::kTooLarge:
        return Refuse(options_.too_large, pending);
    }
  }
}

bool RequestFront::PassOver(Pending* pending) {
  char piece[kPieceBytes];
  const Connection::Progress read =
      pending->connection->Read(piece, sizeof(piece));
  if (read.awaited != 0) Await(read.awaited, pending);
  pending->passed_bytes += read.bytes;
  return read.awaited != 0 ||
         (read.bytes > 0 && pending->passed_bytes < kMostPassedBytes);
}

bool RequestFront::Refuse(const std::string& answer, Pending* pending) {
  pending->connection->Write(answer.data(), answer.size());
  pending->connection->EndWriting();
  pending->is_leaving = true;
  pending->deadline = Clock::now() + kLeavingTime;
  pending->bytes = std::string();
  Await(POLLIN, pending);
  return true;
}

void RequestFront::Await(short event, Pending* pending) {
  Watch(poll_.get(), EPOLL_CTL_MOD, pending->connection->socket(),
        ToEpollEvent(event), pending);
}

void RequestFront::GiveOn(Pending* pending) {
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, pending->connection->socket(), nullptr);
  MutexLock lock(&mutex_);
  ready_.push_back({std::move(pending->connection), std::move(pending->bytes)});
  changed_.NotifyOne();
}

void RequestFront::Remove(Pending* pending) {
  const Place place =
      std::find_if(pending_.begin(), pending_.end(),
                   [&](const Pending& each) { return &each == pending; });
  // Closing the socket also removes it from the epoll set.
  if (place != pending_.end()) pending_.erase(place);
}

void RequestFront::EndLate() {
  const Clock::time_point now = Clock::now();
  for (Place each = pending_.begin(); each != pending_.end();) {
    Pending* const pending = &*each++;
    if (pending->deadline > now) continue;
    if (pending->is_leaving || !Refuse(options_.too_late, pending)) {
      Remove(pending);
    }
  }
}

}  // namespace footprint
