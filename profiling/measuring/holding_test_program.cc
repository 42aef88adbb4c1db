// Holds 48 MiB in the way that its argument names, and reports the conditions
// that it can see. It knows nothing of measurements.

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

extern char** environ;

namespace {

constexpr size_t kBytes = size_t{48} << 20;
char static_array[kBytes];

void Touch(volatile char* bytes) {
  for (size_t i = 0; i < kBytes; i += 4096) bytes[i] = 1;
}

void HoldMapped() {
  void* const bytes = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) std::abort();
  Touch(static_cast<char*>(bytes));
}

// Stays at the peak long enough to be sampled. _exit avoids the memory that an
// exit would need.
[[noreturn]] void StayAndEnd() {
  usleep(200000);
  _exit(0);
}

// Holds a file in memory that no process has open: it waits in a socket.
void HoldInFlight() {
  const int file = memfd_create("held", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kBytes)) != 0) {
    std::abort();
  }
  void* const bytes =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) std::abort();
  Touch(static_cast<char*>(bytes));
  munmap(bytes, kBytes);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  if (sendmsg(ends[0], &message, 0) != 1) std::abort();
  close(file);
}

// Maps a TiB of which no page is touched.
void Reserve() {
  void* const bytes = mmap(nullptr, size_t{1} << 40, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) std::abort();
}

// Returns 3 if the environment has more than every run has.
int CheckEnvironment() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool is_known = std::strncmp(*entry, "PATH=", 5) == 0 ||
                          std::strncmp(*entry, "LANG=", 5) == 0 ||
                          std::strncmp(*entry, "TZ=", 3) == 0;
    if (!is_known) return 3;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string how = argv[1];
  if (how == "static" || how == "mapped" || how == "in flight" ||
      how == "reserve") {
    if (how == "in flight") HoldInFlight();
    if (how == "reserve") Reserve();
    if (how == "static") Touch(static_array);
    if (how == "mapped") HoldMapped();
    StayAndEnd();
  }
  if (how == "fail") _exit(7);
  if (how == "daemon" && fork() == 0) {
    while (true) pause();
  }
  if (how.rfind("ran:", 0) == 0) {
    std::cerr << "benchmarks that ran: " << how.substr(4) << "\n";
  }
  if (how == "environment") return CheckEnvironment();
  if (how == "child") {
    // The child is not waited for, and ends quickly.
    if (fork() == 0) {
      HoldMapped();
      usleep(50000);
      _exit(0);
    }
    usleep(300000);
  }
  return 0;
}
