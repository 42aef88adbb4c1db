#include "footprint/gates/sandbox/system_call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace footprint {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter knows no system calls of this architecture"
#endif

// The bit that marks the numbers of x32 calls.
constexpr uint32_t kOtherNumbers = 0x40000000;

// Calls that both architectures have. A call that is in no list here fails with
// ENOSYS, as with an older kernel, and programs then use an older call.
constexpr uint32_t kAllowed[] = {
    // Files and folders, by descriptor or by a path in the sandbox's root.
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_openat,
    SYS_openat2,
    SYS_close,
    SYS_close_range,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mknodat,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_fadvise64,
    SYS_readahead,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_umask,
    SYS_flock,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_ioctl,
    SYS_copy_file_range,
    SYS_sendfile,
    SYS_splice,
    SYS_tee,
    SYS_vmsplice,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_fgetxattr,
    SYS_listxattr,
    SYS_llistxattr,
    SYS_flistxattr,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    // Waiting for descriptors, and descriptors made for waiting.
    SYS_pselect6,
    SYS_ppoll,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_eventfd2,
    SYS_signalfd4,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_pipe2,
    // Memory.
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_msync,
    SYS_mincore,
    SYS_mlock,
    SYS_mlock2,
    SYS_munlock,
    SYS_mlockall,
    SYS_munlockall,
    SYS_membarrier,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_move_pages,
    SYS_remap_file_pages,
    SYS_pkey_alloc,
    SYS_pkey_free,
    SYS_pkey_mprotect,
    // System V and POSIX memory, semaphores and queues of its IPC namespace.
    SYS_shmat,
    SYS_shmdt,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_mq_timedsend,
    SYS_mq_timedreceive,
    SYS_mq_notify,
    SYS_mq_getsetattr,
    // Processes and threads; clone is checked below.
    SYS_execve,
    SYS_execveat,
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_waitid,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_futex,
    SYS_rseq,
    SYS_gettid,
    SYS_getpid,
    SYS_getppid,
    SYS_getpgid,
    SYS_setpgid,
    SYS_getsid,
    SYS_setsid,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_sched_getparam,
    SYS_sched_setparam,
    SYS_sched_getscheduler,
    SYS_sched_setscheduler,
    SYS_sched_getattr,
    SYS_sched_setattr,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_sched_rr_get_interval,
    SYS_getpriority,
    SYS_setpriority,
    SYS_ioprio_get,
    SYS_ioprio_set,
    SYS_getcpu,
    SYS_prctl,
    SYS_personality,
    SYS_restart_syscall,
    // IDs, limits and resource usage. The program has no privilege to change
    // its IDs or to raise its limits.
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_capget,
    SYS_capset,
    SYS_getrlimit,
    SYS_setrlimit,
    SYS_prlimit64,
    SYS_getrusage,
    SYS_times,
    SYS_sysinfo,
    SYS_uname,
    SYS_getrandom,
    // Signals.
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigpending,
    SYS_rt_sigtimedwait,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_sigaltstack,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    // Reading the time and waiting.
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getitimer,
    SYS_setitimer,
    SYS_timer_create,
    SYS_timer_settime,
    SYS_timer_gettime,
    SYS_timer_getoverrun,
    SYS_timer_delete,
    // Sockets in its network namespace; socket is checked below.
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_connect,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_recvmmsg,
#if defined(__x86_64__)
    // Older calls of this architecture for the same purposes.
    SYS_open,
    SYS_creat,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_getdents,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_link,
    SYS_symlink,
    SYS_mknod,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_dup2,
    SYS_pipe,
    SYS_select,
    SYS_poll,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_signalfd,
    SYS_fork,
    SYS_vfork,
    SYS_getpgrp,
    SYS_pause,
    SYS_alarm,
    SYS_time,
    SYS_arch_prctl,
#endif
};
// Calls that an ordinary program may try. They fail with EPERM, as for a user
// without the right. All other calls fail as if they did not exist.
constexpr uint32_t kRefused[] = {
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    // Mounts and namespaces.
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
    // The kernel's keys, programs and events.
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_seccomp,
    // These use shared quotas: fs.aio-max-nr is for the whole host, and
    // fs.inotify.max_user_instances for the server's user.
    SYS_io_setup,
    SYS_inotify_init1,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    // The machine.
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_syslog,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_vhangup,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
#if defined(__x86_64__)
    SYS_inotify_init,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};
constexpr size_t kListedCount =
    sizeof(kAllowed) / sizeof(uint32_t) + sizeof(kRefused) / sizeof(uint32_t);

constexpr uint32_t kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                 CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                 CLONE_NEWCGROUP;

// Calls that are allowed unless an argument has one of these flags. The flags
// are in the low 32 bits of the argument.
struct FlagCheck {
  uint32_t call;
  int argument;
  uint32_t flags;
  uint32_t error;
};
constexpr FlagCheck kFlagChecks[] = {
    {SYS_clone, 0, kNamespaces, EPERM},
    // Huge pages that the host has reserved count in no memory limit. The
    // errors are those of a kernel without them, so that programs take ordinary
    // pages.
    {SYS_mmap, 3, MAP_HUGETLB, ENOMEM},
    {SYS_memfd_create, 1, MFD_HUGETLB, EINVAL},
    {SYS_shmget, 2, SHM_HUGETLB, ENOMEM},
};
constexpr size_t kFlagCheckCount = sizeof(kFlagChecks) / sizeof(FlagCheck);

class Filter {
 public:
  Filter() {
    Load(offsetof(seccomp_data, arch));
    JumpEqual(kArchitecture, 1, 0);
    Return(SECCOMP_RET_KILL_PROCESS);
    Load(offsetof(seccomp_data, nr));
    Add(BPF_JMP | BPF_JGE | BPF_K, kOtherNumbers, 0, 1);
    Return(SECCOMP_RET_KILL_PROCESS);
    // The two numbers of a jump say how many instructions to skip if the
    // comparison holds, and if it does not.
    for (const FlagCheck& check : kFlagChecks) {
      JumpEqual(check.call, 0, 4);
      Load(offsetof(seccomp_data, args) +
           static_cast<size_t>(check.argument) * sizeof(uint64_t));
      Add(BPF_JMP | BPF_JSET | BPF_K, check.flags, 0, 1);
      Return(SECCOMP_RET_ERRNO | check.error);
      Return(SECCOMP_RET_ALLOW);
    }
    for (const uint32_t call : kAllowed) ReturnFor(call, SECCOMP_RET_ALLOW);
    for (const uint32_t call : kRefused) {
      ReturnFor(call, SECCOMP_RET_ERRNO | EPERM);
    }
    for (const int call : {SYS_socket, SYS_socketpair}) {
      JumpEqual(call, 0, 6);
      Load(offsetof(seccomp_data, args[0]));
      JumpEqual(AF_UNIX, 3, 0);
      JumpEqual(AF_INET, 2, 0);
      JumpEqual(AF_INET6, 1, 0);
      Return(SECCOMP_RET_ERRNO | EPERM);
      Return(SECCOMP_RET_ALLOW);
    }
    // clone3 gives ENOSYS too, because its flags are in memory, which a filter
    // cannot read. Libraries then call clone.
    Return(SECCOMP_RET_ERRNO | ENOSYS);
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
  void ReturnFor(uint32_t call, uint32_t action) {
    JumpEqual(call, 0, 1);
    Return(action);
  }

  sock_filter code_[2 * kListedCount + 5 * kFlagCheckCount + 32];
  size_t size_ = 0;
};

}  // namespace

bool InstallSystemCallFilter() { return Filter().Install(); }

}  // namespace footprint
