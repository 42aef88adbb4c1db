#include "footprint/gates/server/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "httplib.h"

namespace footprint {
namespace {

// The most bytes that one call of OpenSSL moves, which takes their number as an
// int.
constexpr size_t kMostBytesAtOnce = size_t{1} << 20;

class Plain : public Connection {
 public:
  using Connection::Connection;

  Progress Read(char* bytes, size_t size) override {
    return ToProgress(recv(socket(), bytes, size, 0), POLLIN);
  }
  Progress Write(const char* bytes, size_t size) override {
    return ToProgress(send(socket(), bytes, size, MSG_NOSIGNAL), POLLOUT);
  }
  void EndWriting() override { shutdown(socket(), SHUT_WR); }

 private:
  static Progress ToProgress(ssize_t result, short awaited) {
    if (result > 0) return {result, 0};
    const bool is_early = result < 0 && (errno == EAGAIN || errno == EINTR);
    return {0, is_early ? awaited : short{0}};
  }
};

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT

class Tls : public Connection {
 public:
  Tls(FileDescriptor socket, SSL* ssl)
      : Connection(std::move(socket)), ssl_(ssl) {
    SSL_set_fd(ssl_, this->socket());
    SSL_set_accept_state(ssl_);
    SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE |
                           SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  }
  ~Tls() override { SSL_free(ssl_); }

  Progress Read(char* bytes, size_t size) override {
    ERR_clear_error();
    return ToProgress(SSL_read(ssl_, bytes, SizeOf(size)));
  }
  Progress Write(const char* bytes, size_t size) override {
    ERR_clear_error();
    return ToProgress(SSL_write(ssl_, bytes, SizeOf(size)));
  }
  void EndWriting() override {
    if (!has_failed_ && SSL_is_init_finished(ssl_) != 0) SSL_shutdown(ssl_);
    shutdown(socket(), SHUT_WR);
  }

 private:
  static int SizeOf(size_t size) {
    return static_cast<int>(std::min(size, kMostBytesAtOnce));
  }

  Progress ToProgress(int result) {
    if (result > 0) return {result, 0};
    switch (SSL_get_error(ssl_, result)) {
      case SSL_ERROR_WANT_READ:
        return {0, POLLIN};
      case SSL_ERROR_WANT_WRITE:
        return {0, POLLOUT};
      default:
        has_failed_ = true;
        return {0, 0};
    }
  }

  SSL* const ssl_;
  bool has_failed_ = false;
};

#endif

}  // namespace

std::unique_ptr<Connection> PlainConnection(FileDescriptor socket) {
  return std::make_unique<Plain>(std::move(socket));
}

std::unique_ptr<Connection> TlsConnection(FileDescriptor socket,
                                          ssl_ctx_st* context) {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  SSL* const ssl = SSL_new(context);
  if (ssl == nullptr) return nullptr;
  return std::make_unique<Tls>(std::move(socket), ssl);
#else
  (void)socket;
  (void)context;
  return nullptr;
#endif
}

}  // namespace footprint
