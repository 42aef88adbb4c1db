#include "footprint/base/files/refuse_system_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace footprint {
namespace {

// Refuses the call `number` with `error` if any of `argument_bits` is set in
// its third argument, or always if there are no `argument_bits`.
bool Refuse(unsigned number, unsigned argument_bits, unsigned error) {
  // The filter reads the lower half of the argument, which comes first.
  const struct sock_filter refuse_all[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_filter refuse_bits[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, argument_bits, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program;
  program.filter = const_cast<struct sock_filter*>(
      argument_bits == 0 ? refuse_all : refuse_bits);
  program.len = argument_bits == 0 ? 4 : 6;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool RefuseIoUring() { return Refuse(SYS_io_uring_setup, 0, EPERM); }

// The C library starts a thread by one of these two.
bool RefuseThreads() {
  return Refuse(SYS_clone3, 0, EAGAIN) && Refuse(SYS_clone, 0, EAGAIN);
}

bool RefuseDirectOpen() { return Refuse(SYS_openat, O_DIRECT, EINVAL); }

bool RefuseReadsAtPlaces() { return Refuse(SYS_pread64, 0, EIO); }

bool RefuseClosingRanges() { return Refuse(SYS_close_range, 0, EPERM); }

bool RefuseFlushes() { return Refuse(SYS_fsync, 0, EIO); }

}  // namespace footprint
