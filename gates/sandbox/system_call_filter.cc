#include "footprint/gates/sandbox/system_call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace footprint {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter knows no system calls of this architecture"
#endif

// The bit that numbers of the x32 calls have.
constexpr uint32_t kOtherNumbers = 0x40000000;

constexpr uint32_t kRefused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_setns,
    SYS_unshare,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_quotactl,
    SYS_acct,
    SYS_syslog,
    SYS_vhangup,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_seccomp,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};
constexpr size_t kRefusedCount = sizeof(kRefused) / sizeof(kRefused[0]);

constexpr uint32_t kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                 CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                 CLONE_NEWCGROUP;

class Filter {
 public:
  Filter() {
    Load(offsetof(seccomp_data, arch));
    JumpEqual(kArchitecture, 1, 0);
    Return(SECCOMP_RET_KILL_PROCESS);
    Load(offsetof(seccomp_data, nr));
    Add(BPF_JMP | BPF_JGE | BPF_K, kOtherNumbers, 0, 1);
    Return(SECCOMP_RET_KILL_PROCESS);
    for (const uint32_t call : kRefused) {
      JumpEqual(call, 0, 1);
      Return(SECCOMP_RET_ERRNO | EPERM);
    }
    // Its flags lie in memory, where no filter sees them; libraries then call
    // clone.
    JumpEqual(SYS_clone3, 0, 1);
    Return(SECCOMP_RET_ERRNO | ENOSYS);
    JumpEqual(SYS_clone, 0, 4);
    Load(offsetof(seccomp_data, args[0]));
    Add(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Return(SECCOMP_RET_ALLOW);
    JumpEqual(SYS_socket, 0, 5);
    Load(offsetof(seccomp_data, args[0]));
    JumpEqual(AF_UNIX, 3, 0);
    JumpEqual(AF_INET, 2, 0);
    JumpEqual(AF_INET6, 1, 0);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Return(SECCOMP_RET_ALLOW);
  }

  bool Install() {
    const sock_fprog program = {static_cast<uint16_t>(size_), code_};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  void Add(uint32_t code, uint32_t value, uint8_t if_true = 0,
           uint8_t if_false = 0) {
    code_[size_++] = {static_cast<uint16_t>(code), if_true, if_false, value};
  }
  void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
  }
  void JumpEqual(uint32_t value, uint8_t if_true, uint8_t if_false) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, if_true, if_false);
  }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action); }

  sock_filter code_[2 * kRefusedCount + 32];
  size_t size_ = 0;
};

}  // namespace

bool InstallSystemCallFilter() { return Filter().Install(); }

}  // namespace footprint
