// A client's connection, plain or over TLS, whose calls never block.
//
//   std::unique_ptr<Connection> connection = PlainConnection(std::move(fd));
//   const Connection::Progress read = connection->Read(bytes, sizeof(bytes));
//   if (read.awaited != 0) ...  // poll for it, and call again
//
// The socket must be non-blocking. A TLS handshake is part of the first calls.
//
// Owns its socket. Thread-compatible. Memory: with TLS, that of OpenSSL (about
// 50 KiB). Errors: a connection that fails looks like one that has ended.

#ifndef FOOTPRINT_GATES_SERVER_CONNECTION_H_
#define FOOTPRINT_GATES_SERVER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "footprint/base/files/file_descriptor.h"

// OpenSSL's SSL_CTX.
struct ssl_ctx_st;

namespace footprint {

class Connection {
 public:
  // The result of a call: bytes were moved, or there is an event to wait for,
  // or neither. In the last case the other side has hung up, or the connection
  // has failed.
  struct Progress {
    int64_t bytes = 0;
    short awaited = 0;  // POLLIN or POLLOUT
  };

  explicit Connection(FileDescriptor socket) : socket_(std::move(socket)) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual Progress Read(char* bytes, size_t size) = 0;
  virtual Progress Write(const char* bytes, size_t size) = 0;
  // Tells the other side that no more bytes follow; it may still send.
  virtual void EndWriting() = 0;

  int socket() const { return socket_.get(); }

 private:
  const FileDescriptor socket_;
};

// Makes a connection without TLS.
std::unique_ptr<Connection> PlainConnection(FileDescriptor socket);

// Makes the server's side of a TLS connection. `context` must outlive it.
// Returns null if this build has no TLS, or OpenSSL has no memory.
std::unique_ptr<Connection> TlsConnection(FileDescriptor socket,
                                          ssl_ctx_st* context);

}  // namespace footprint

// Tested by http_server_test.

#endif  // FOOTPRINT_GATES_SERVER_CONNECTION_H_
