// Accepts connections, and passes each on once the header of its request is
// complete.
//
//   RequestFront front(options);
//   front.Start();
//   while (absl::optional<ArrivedRequest> request = front.Next()) ...
//   front.Stop();                            // from another thread
//
// A slow client does not occupy a thread: one thread reads the headers of all
// connections as they arrive. A header has a limit of bytes and of lines, and
// one deadline for all of it, so a client without a token costs a few KiB for a
// few seconds. If more than `most_connections` have no complete header, the
// oldest is closed for the newest. While `most_ready` requests wait for a
// thread, no connection is accepted, and the others stay in the kernel's queue.
//
// `options.listening_socket` must be listening; the caller still owns it. Any
// number of threads may call Next; one thread must call Start and Stop. Memory:
// (most_connections + most_ready) x most_header_bytes, and that of the
// connections. A connection that fails is closed without an error.

#ifndef FOOTPRINT_GATES_SERVER_REQUEST_FRONT_H_
#define FOOTPRINT_GATES_SERVER_REQUEST_FRONT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/server/connection.h"

namespace footprint {

struct RequestFrontOptions {
  int listening_socket = -1;
  // Makes the connection of a new socket; if it returns null, the socket is
  // closed.
  std::function<std::unique_ptr<Connection>(FileDescriptor socket)> connect;
  size_t most_header_bytes = size_t{16} << 10;
  int most_header_lines = 100;
  std::chrono::milliseconds header_time = std::chrono::seconds(10);
  size_t most_connections = 256;
  size_t most_ready = 64;
  // Answers to a header that is too large, and to one that is late.
  std::string too_large;
  std::string too_late;
};

struct ArrivedRequest {
  std::unique_ptr<Connection> connection;
  // The whole header, and the part of the body that arrived with it.
  std::string bytes;
};

class RequestFront {
 public:
  explicit RequestFront(RequestFrontOptions options)
      : options_(std::move(options)) {}
  ~RequestFront() { Stop(); }
  RequestFront(const RequestFront&) = delete;
  RequestFront& operator=(const RequestFront&) = delete;

  // Returns false if the system has no descriptors or watches left. Call it
  // once.
  bool Start();
  // Waits for a request and returns it; nullopt once Stop was called and none
  // is left.
  absl::optional<ArrivedRequest> Next();
  // Stops the thread, and closes the connections without a complete header.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    std::unique_ptr<Connection> connection;
    std::string bytes;
    Clock::time_point deadline;
    // True once its refusal was sent. The bytes that it still sends are
    // discarded, since unread bytes would reset the connection before the
    // refusal arrives.
    bool is_leaving = false;
    int64_t passed_bytes = 0;
  };
  using Place = std::list<Pending>::iterator;

  void Work();
  // Milliseconds until the next deadline.
  int WaitMilliseconds() const;
  void Accept();
  bool HasRoom() ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(FileDescriptor socket);
  void Advance(Pending* pending);
  // These return whether to keep waiting for the connection.
  bool ReadHeader(Pending* pending);
  bool PassOver(Pending* pending);
  bool Refuse(const std::string& answer, Pending* pending);
  void Await(short event, Pending* pending);
  void GiveOn(Pending* pending) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(Pending* pending);
  void EndLate();
  void Wake() const;

  const RequestFrontOptions options_;
  FileDescriptor poll_;
  FileDescriptor wake_;
  std::thread thread_;
  // The oldest is first. Only `thread_` uses it.
  std::list<Pending> pending_;
  bool is_accepting_ = true;

  Mutex mutex_;
  CondVar changed_;
  std::deque<ArrivedRequest> ready_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_REQUEST_FRONT_H_
