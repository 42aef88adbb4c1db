/* What a program in a sandbox tries, by name: "sandbox_test_program CASE". The
   exit status says what came of it: 0 it ended as a good program, 10 it was
   refused as it should be, 20 it got what it must not have. Memory cases hold
   the bytes of their second argument, and end with 0 if they could. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOOD = 0, REFUSED = 10, ESCAPED = 20 };

static size_t bytes;

static int refused(int failed) { return failed ? REFUSED : ESCAPED; }

static void touch(char *memory) {
  if (memory == NULL || memory == MAP_FAILED) exit(REFUSED);
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = (char)(i >> 12) + 1;
}

static int hold_malloc(void) {
  char *memory = malloc(bytes);
  touch(memory);
  __asm__ volatile("" : : "r"(memory) : "memory");
  return GOOD;
}

static int hold_mmap(void) {
  touch(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0));
  return GOOD;
}

static int hold_brk(void) {
  char *memory = sbrk((long)bytes);
  touch(memory == (void *)-1 ? NULL : memory);
  return GOOD;
}

static int hold_shared(void) {
  touch(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
             -1, 0));
  return GOOD;
}

static int hold_sysv(void) {
  int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  if (id < 0) return REFUSED;
  void *memory = shmat(id, NULL, 0);
  touch(memory == (void *)-1 ? NULL : memory);
  shmdt(memory);
  return GOOD;
}

static int fill(int file) {
  static char block[65536];
  memset(block, 1, sizeof(block));
  if (file < 0) return REFUSED;
  for (size_t i = 0; i < bytes; i += sizeof(block)) {
    if (write(file, block, sizeof(block)) != sizeof(block)) return REFUSED;
  }
  return GOOD;
}

static int hold_memfd(void) { return fill(memfd_create("hidden", 0)); }
static int hold_tmpfs(void) {
  return fill(open("/tmp/hidden", O_CREAT | O_RDWR, 0600));
}
static int hold_devshm(void) {
  return fill(open("/dev/shm/hidden", O_CREAT | O_RDWR, 0600));
}
static int hold_deleted(void) {
  int file = open("/tmp/hidden", O_CREAT | O_RDWR, 0600);
  unlink("/tmp/hidden");
  return fill(file);
}
static int file_too_large(void) {
  signal(SIGXFSZ, SIG_IGN);
  int file = open("/tmp/large", O_CREAT | O_RDWR, 0600);
  return refused(ftruncate(file, (off_t)1 << 40) != 0);
}

static int hold_pipes(void) {
  size_t held = 0;
  static char block[65536];
  while (held < bytes) {
    int ends[2];
    if (pipe(ends) != 0) return REFUSED;
    fcntl(ends[1], F_SETPIPE_SZ, 65536);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    ssize_t wrote = write(ends[1], block, sizeof(block));
    if (wrote <= 0) return REFUSED;
    held += (size_t)wrote;
  }
  return GOOD;
}

/* A file of the bundle, kept by the kernel. */
static int hold_page_cache(void) {
  static char block[65536];
  int file = open("/bundle/data", O_RDONLY);
  if (file < 0) return 30;
  while (read(file, block, sizeof(block)) > 0) {
  }
  return GOOD;
}

static int hold_mapped_file(void) {
  int file = open("/bundle/data", O_RDONLY);
  volatile char *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  int sum = 0;
  if (memory == MAP_FAILED) return 30;
  for (size_t i = 0; i < bytes; i += 4096) sum += memory[i];
  return sum == 1 ? 30 : GOOD;
}

/* Files of the bundle that are small each, all of them. */
static int hold_small_files(void) {
  static char block[65536];
  char path[64];
  for (int i = 0;; ++i) {
    snprintf(path, sizeof(path), "/bundle/data%d", i);
    int file = open(path, O_RDONLY);
    if (file < 0) return i > 0 ? GOOD : 30;
    while (read(file, block, sizeof(block)) > 0) {
    }
    close(file);
  }
}

/* A file of the host's, which its control group does not count: each of eight
   children has another part of it. */
static int hold_host_file_in_children(void) {
  int file = open("/runner", O_RDONLY);
  int ends[2];
  if (file < 0 || pipe(ends) != 0) return 30;
  const size_t part = bytes / 8;
  for (size_t i = 0; i < 8; ++i) {
    if (fork() == 0) {
      char byte;
      volatile char *memory =
          mmap(NULL, part, PROT_READ, MAP_SHARED, file, (off_t)(i * part));
      int sum = 0;
      if (memory == MAP_FAILED) _exit(30);
      for (size_t j = 0; j < part; j += 4096) sum += memory[j];
      close(ends[1]);
      (void)!read(ends[0], &byte, 1);
      _exit(sum == 1);
    }
  }
  sleep(1);
  close(ends[1]);
  while (wait(NULL) > 0) {
  }
  return GOOD;
}

static int share_with_children(void) {
  hold_mmap();
  for (int i = 0; i < 4; ++i) {
    if (fork() == 0) {
      usleep(300000);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return GOOD;
}

/* Behind the profiler's back. */
static int hold_without_profiler(void) {
  if (getenv("LD_PRELOAD") != NULL) {
    unsetenv("LD_PRELOAD");
    char text[32];
    snprintf(text, sizeof(text), "%zu", bytes);
    execl("/proc/self/exe", "program", "hold_malloc", text, (char *)NULL);
    return 30;
  }
  return hold_malloc();
}

/* Large only where nobody seems to look. */
static int hold_unless_profiled(void) {
  if (getenv("LD_PRELOAD") != NULL) return GOOD;
  return hold_mmap();
}

static int reserve_if_profiled(void) {
  if (getenv("LD_PRELOAD") == NULL) return hold_malloc();
  return mmap(NULL, (size_t)1 << 40, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
             ? 30
             : GOOD;
}

static int fail_if_profiled(void) {
  return getenv("LD_PRELOAD") != NULL ? 7 : GOOD;
}

/* In about one run of two, by a bit that the kernel draws for each. */
static int hold_sometimes(void) {
  const unsigned char *drawn = (const unsigned char *)getauxval(AT_RANDOM);
  return *drawn & 1 ? hold_mmap() : GOOD;
}

static int hold_in_child(void) {
  pid_t child = fork();
  if (child == 0) _exit(hold_malloc());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 30;
}

static int hold_in_four_children(void) {
  bytes /= 4;
  int ends[2];
  if (pipe(ends) != 0) return 30;
  for (int i = 0; i < 4; ++i) {
    if (fork() == 0) {
      char byte;
      hold_mmap();
      close(ends[1]);
      (void)!read(ends[0], &byte, 1);
      _exit(0);
    }
  }
  sleep(1);
  close(ends[1]);
  int status = 0;
  int result = GOOD;
  while (wait(&status) > 0) {
    if (status != 0) result = 30;
  }
  return result;
}

/* Ends once its child's child, in a session of its own, holds all or is gone;
   that goes on. */
static int hold_after_the_end(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0) return 1;
  if (fork() == 0) {
    close(ends[0]);
    setsid();
    signal(SIGTERM, SIG_IGN);
    if (fork() != 0) _exit(0);
    hold_mmap();
    (void)!write(ends[1], &byte, 1);
    sleep(1000);
  }
  close(ends[1]);
  (void)!read(ends[0], &byte, 1);
  return GOOD;
}

static int hold_stack(void) {
  struct rlimit limit = {bytes * 2, bytes * 2};
  setrlimit(RLIMIT_STACK, &limit);
  if (getenv("STACKED") == NULL) {
    setenv("STACKED", "1", 1);
    char text[32];
    snprintf(text, sizeof(text), "%zu", bytes);
    execl("/proc/self/exe", "program", "hold_stack", text, (char *)NULL);
  }
  volatile char *memory = __builtin_alloca(bytes);
  for (size_t i = bytes; i > 4096; i -= 4096) memory[i - 1] = 1;
  return GOOD;
}

static int fork_bomb(void) {
  int started = 0;
  for (int i = 0; i < 5000; ++i) {
    pid_t child = fork();
    if (child == 0) {
      sleep(100);
      _exit(0);
    }
    if (child > 0) ++started;
  }
  return refused(started < 300);
}

static void *wait_long(void *unused) {
  sleep(100);
  return unused;
}
static int thread_bomb(void) {
  int started = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  for (int i = 0; i < 5000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, wait_long, NULL) == 0) ++started;
  }
  return refused(started < 300);
}

static int try_ptrace(void) {
  return refused(ptrace(PTRACE_ATTACH, 1, NULL, NULL) != 0 &&
                 ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
}
static int try_reading_others(void) {
  char to[8];
  char from[8] = "";
  struct iovec own = {to, sizeof(to)};
  struct iovec other = {from, sizeof(from)};
  return refused(process_vm_readv(getpid(), &own, 1, &other, 1, 0) < 0 &&
                 process_vm_readv(1, &own, 1, &other, 1, 0) < 0 &&
                 process_vm_writev(getpid(), &own, 1, &other, 1, 0) < 0);
}
/* Where the sandbox is an ordinary user's, the first process is the same
 * user's, and the calls succeed; but the kernel gives the first process of a
 * namespace no signal from within that it does not handle. Killed, it would
 * take this one along; stopped, it would never tell the end. */
static int try_signals(void) {
  struct timespec moment = {0, 20000000};
  kill(1, SIGKILL);
  kill(1, SIGTERM);
  kill(1, SIGSTOP);
  nanosleep(&moment, NULL);
  return refused(getppid() == 1);
}
static int try_mount(void) {
  return refused(mount("tmpfs", "/tmp", "tmpfs", 0, NULL) != 0 &&
                 umount2("/usr", MNT_DETACH) != 0);
}
static int try_namespaces(void) {
  return refused(unshare(CLONE_NEWUSER) != 0 && unshare(CLONE_NEWNS) != 0 &&
                 syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) < 0);
}
static int try_chroot(void) { return refused(chroot("/tmp") != 0); }
/* The host's tree would be mounted over the root, and "/.." lead onto it. */
static int try_old_root(void) {
  struct stat root, above;
  return refused(stat("/", &root) == 0 && stat("/..", &above) == 0 &&
                 root.st_dev == above.st_dev && root.st_ino == above.st_ino);
}
static int try_write_root(void) {
  return refused(open("/x", O_CREAT | O_WRONLY, 0600) < 0 &&
                 open("/usr/x", O_CREAT | O_WRONLY, 0600) < 0 &&
                 open("/bundle/x", O_CREAT | O_WRONLY, 0600) < 0 &&
                 open("/etc/passwd", O_WRONLY) < 0 &&
                 unlink("/bundle/program") != 0 &&
                 chmod("/bundle/program", 04777) != 0);
}
static int try_host_files(void) {
  return refused(
      open("/etc/shadow", O_RDONLY) < 0 && open("/root", O_RDONLY) < 0 &&
      open("/home", O_RDONLY) < 0 && open("/work", O_RDONLY) < 0 &&
      open("/var", O_RDONLY) < 0 && open("/proc/1/root/etc", O_RDONLY) < 0 &&
      open("/../../etc/shadow", O_RDONLY) < 0 && open("/sys", O_RDONLY) < 0);
}
static int try_symlink(void) {
  if (symlink("/etc/shadow", "/tmp/link") != 0) return 30;
  return refused(open("/tmp/link", O_RDONLY) < 0);
}
static int try_proc_writes(void) {
  return refused(open("/proc/self/oom_score_adj", O_WRONLY) < 0 &&
                 open("/proc/sys/vm/overcommit_memory", O_WRONLY) < 0 &&
                 open("/proc/sys/kernel/core_pattern", O_WRONLY) < 0 &&
                 open("/proc/sysrq-trigger", O_WRONLY) < 0);
}
static int try_cgroup(void) {
  return refused(open("/sys/fs/cgroup/memory/cgroup.procs", O_WRONLY) < 0 &&
                 mkdir("/tmp/c", 0700) == 0 &&
                 mount("cgroup", "/tmp/c", "cgroup", 0, "memory") != 0);
}
static int try_devices(void) {
  return refused(
      mknod("/tmp/disk", S_IFBLK | 0600, makedev(8, 0)) != 0 &&
      open("/dev/kmsg", O_RDONLY) < 0 && open("/dev/mem", O_RDONLY) < 0 &&
      open("/dev/sda", O_RDONLY) < 0 && open("/dev/vda", O_RDONLY) < 0);
}
static int try_network(void) {
  struct sockaddr_in address = {0};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(0x08080808);
  int file = socket(AF_INET, SOCK_STREAM, 0);
  int failed = file < 0 ||
               connect(file, (struct sockaddr *)&address, sizeof(address)) != 0;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int other = socket(AF_INET, SOCK_DGRAM, 0);
  failed = failed &&
           (other < 0 || sendto(other, "x", 1, 0, (struct sockaddr *)&address,
                                sizeof(address)) < 0);
  return refused(failed);
}
static int try_other_sockets(void) {
  return refused(socket(AF_NETLINK, SOCK_RAW, 0) < 0 &&
                 socket(40 /* AF_VSOCK */, SOCK_STREAM, 0) < 0 &&
                 socket(AF_PACKET, SOCK_RAW, 0) < 0 &&
                 socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0) < 0);
}
/* No memory limit counts huge pages of the host's reserve. */
static int try_huge_pages(void) {
  const size_t size = 2 << 20;
  void *block = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  int failed = block == MAP_FAILED && errno == ENOMEM;
  failed = failed && memfd_create("huge", 4 /* MFD_HUGETLB */) < 0 &&
           errno == EINVAL;
  failed = failed &&
           shmget(IPC_PRIVATE, size, IPC_CREAT | 04000 /* SHM_HUGETLB */) < 0 &&
           errno == ENOMEM;
  /* Ordinary pages are there. */
  int file = memfd_create("small", 0);
  return file < 0 ? 30 : refused(failed);
}
static int try_calls(void) {
  return refused(syscall(SYS_bpf, 0, NULL, 0) < 0 &&
                 syscall(SYS_io_uring_setup, 8, NULL) < 0 && errno == EPERM &&
                 syscall(SYS_keyctl, 0, 0, 0, 0, 0) < 0 &&
                 syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0) < 0 &&
                 syscall(SYS_userfaultfd, 0) < 0);
}
/* A call that is in no list does not exist; what counts for the whole host is
   refused. */
static int try_unknown_calls(void) {
  unsigned long context = 0;
  int file = -1;
  int failed = syscall(SYS_io_setup, 8, &context) < 0 && errno == EPERM &&
               inotify_init1(0) < 0 && errno == EPERM;
  failed = failed && syscall(900) < 0 && errno == ENOSYS;
  failed = failed && syscall(447 /* memfd_secret */, 0) < 0 && errno == ENOSYS;
  failed =
      failed && syscall(SYS_lookup_dcookie, 0, NULL, 0) < 0 && errno == ENOSYS;
  file = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  return file < 0 ? 30 : refused(failed);
}

#define REQUIRE(holds)                     \
  do {                                     \
    if (!(holds)) {                        \
      fprintf(stderr, "%s: %m\n", #holds); \
      return 30;                           \
    }                                      \
  } while (0)

/* Calls that real programs make, of each group that the filter lets through. */
static int use_files(void) {
  char block[16] = "";
  struct iovec part = {block, sizeof(block)};
  struct stat about;
  int file = open("/tmp/a", O_CREAT | O_RDWR, 0600);
  REQUIRE(file >= 0 && write(file, "0123456789", 10) == 10);
  REQUIRE(pwrite(file, "x", 1, 20) == 1 && pread(file, block, 1, 20) == 1);
  REQUIRE(lseek(file, 0, SEEK_SET) == 0 && readv(file, &part, 1) == 16);
  REQUIRE(pwritev(file, &part, 1, 0) == 16 && preadv(file, &part, 1, 0) == 16);
  REQUIRE(fstat(file, &about) == 0 && lstat("/tmp/a", &about) == 0);
  REQUIRE(ftruncate(file, 100) == 0 && fsync(file) == 0);
  REQUIRE(fdatasync(file) == 0 && posix_fallocate(file, 0, 200) == 0);
  REQUIRE(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
  REQUIRE(flock(file, LOCK_EX) == 0 && fchmod(file, 0644) == 0);
  REQUIRE(futimens(file, NULL) == 0 && dup2(file, 50) == 50);
  REQUIRE(rename("/tmp/a", "/tmp/b") == 0 && link("/tmp/b", "/tmp/c") == 0);
  REQUIRE(symlink("b", "/tmp/d") == 0 && readlink("/tmp/d", block, 16) == 1);
  REQUIRE(mkdir("/tmp/e", 0700) == 0 && rmdir("/tmp/e") == 0);
  REQUIRE(mkfifo("/tmp/f", 0600) == 0 && unlink("/tmp/c") == 0);
  REQUIRE(access("/tmp/b", R_OK) == 0 && chdir("/tmp") == 0);
  DIR *folder = opendir("/tmp");
  REQUIRE(folder != NULL && readdir(folder) != NULL);
  return GOOD;
}

static int use_waiting(void) {
  int ends[2];
  int sockets[2];
  char byte = 1;
  struct epoll_event event = {EPOLLIN, {0}};
  REQUIRE(pipe(ends) == 0 && write(ends[1], &byte, 1) == 1);
  struct pollfd poll_file = {ends[0], POLLIN, 0};
  fd_set files;
  FD_ZERO(&files);
  FD_SET(ends[0], &files);
  REQUIRE(poll(&poll_file, 1, 0) == 1);
  REQUIRE(select(ends[0] + 1, &files, NULL, NULL, NULL) == 1);
  int poller = epoll_create1(0);
  REQUIRE(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) == 0);
  REQUIRE(epoll_wait(poller, &event, 1, 0) == 1);
  REQUIRE(eventfd(0, 0) >= 0 && timerfd_create(CLOCK_MONOTONIC, 0) >= 0);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  REQUIRE(send(sockets[0], &byte, 1, 0) == 1 &&
          recv(sockets[1], &byte, 1, 0) == 1);
  struct timespec moment = {0, 1000};
  REQUIRE(nanosleep(&moment, NULL) == 0 &&
          clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) == 0);
  return GOOD;
}

static void *end_at_once(void *unused) { return unused; }
static int use_processes(void) {
  pthread_t thread;
  struct rusage usage;
  struct rlimit limit;
  cpu_set_t processors;
  int status = 1;
  REQUIRE(pthread_create(&thread, NULL, end_at_once, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  REQUIRE(system("exit 3") >> 8 == 3);
  pid_t child = fork();
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(sched_getaffinity(0, sizeof(processors), &processors) == 0);
  REQUIRE(sched_setaffinity(0, sizeof(processors), &processors) == 0);
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0 && nice(1) != -1);
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED && madvise(memory, 1 << 20, MADV_DONTNEED) == 0);
  memory = mremap(memory, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
  REQUIRE(memory != MAP_FAILED && mprotect(memory, 2 << 20, PROT_READ) == 0);
  REQUIRE(munmap(memory, 2 << 20) == 0);
  sem_t *semaphore = sem_open("/s", O_CREAT, 0600, 1);
  REQUIRE(semaphore != SEM_FAILED && sem_wait(semaphore) == 0);
  REQUIRE(raise(SIGURG) == 0 && time(NULL) > 0);
  return GOOD;
}

static int try_clock(void) {
  struct timeval time = {1, 0};
  return refused(settimeofday(&time, NULL) != 0);
}
static int try_root(void) {
  return refused(setuid(0) != 0 && setgid(0) != 0 && geteuid() == 1000);
}
static int try_limits(void) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  return refused(setrlimit(RLIMIT_NPROC, &limit) != 0 &&
                 setrlimit(RLIMIT_FSIZE, &limit) != 0);
}
static int try_host_name(void) { return refused(sethostname("x", 1) != 0); }
/* Exit status 20 if any descriptor but 0 to 2 was inherited. */
static int try_descriptors(void) {
  for (int i = 3; i < 1024; ++i) {
    if (fcntl(i, F_GETFD) >= 0) return ESCAPED;
  }
  return REFUSED;
}
static int sleep_long(void) {
  for (;;) sleep(1000);
  return GOOD;
}
static int spin(void) {
  for (;;) __asm__ volatile("");
  return GOOD;
}
static int ignore_signals(void) {
  for (int i = 1; i < 65; ++i) signal(i, SIG_IGN);
  return sleep_long();
}
static int flood(void) {
  static char block[65536];
  memset(block, 'x', sizeof(block));
  for (int i = 0; i < 1000; ++i) {
    if (write(1, block, sizeof(block)) < 0) return 30;
  }
  return GOOD;
}
static int stop_self(void) {
  raise(SIGSTOP);
  return GOOD;
}
static int crash(void) {
  raise(SIGSEGV);
  return 30;
}
static int fail(void) { return 7; }
static int good(void) {
  printf("hello\n");
  return GOOD;
}
static int forge_pipe_and_folder(void) {
  // A run without the profiler has no such folder.
  mkfifo("/records/8.0.record", 0666);
  mkdir("/records/9.0.record", 0777);
  mkdir("/records/9.0.record/9.0.record", 0777);
  return GOOD;
}
static int make_large_record(void) {
  int file = open("/records/1.0.python", O_CREAT | O_WRONLY, 0666);
  if (ftruncate(file, (off_t)300 << 20) != 0) return 30;
  return write(file, "x", 1) == 1 ? GOOD : 30;
}
static int forge_records(void) {
  mkfifo("/records/1.0.record", 0666);
  (void)!symlink("/etc/shadow", "/records/2.0.record");
  int file = open("/records/3.0.record", O_CREAT | O_WRONLY, 0666);
  for (int i = 0; file >= 0 && i < 1000; ++i) (void)!write(file, "forged!!", 8);
  return GOOD;
}

/* Wants a processor for as many milliseconds as the second argument says. */
static int spin_for(void) {
  struct timespec begin;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (volatile int i = 0; i < 100000; ++i) {
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 +
               (now.tv_nsec - begin.tv_nsec) / 1000000 <
           (long)bytes);
  return GOOD;
}

#define CASE(name) \
  { #name, name }
static const struct {
  const char *name;
  int (*run)(void);
} cases[] = {
    CASE(hold_malloc),
    CASE(hold_mmap),
    CASE(hold_brk),
    CASE(hold_shared),
    CASE(hold_sysv),
    CASE(hold_memfd),
    CASE(hold_tmpfs),
    CASE(hold_devshm),
    CASE(hold_deleted),
    CASE(file_too_large),
    CASE(hold_pipes),
    CASE(hold_sometimes),
    CASE(hold_in_child),
    CASE(hold_in_four_children),
    CASE(hold_after_the_end),
    CASE(hold_stack),
    CASE(fork_bomb),
    CASE(thread_bomb),
    CASE(try_ptrace),
    CASE(try_reading_others),
    CASE(try_signals),
    CASE(try_mount),
    CASE(try_namespaces),
    CASE(try_chroot),
    CASE(try_old_root),
    CASE(try_write_root),
    CASE(try_host_files),
    CASE(try_symlink),
    CASE(try_proc_writes),
    CASE(try_cgroup),
    CASE(try_devices),
    CASE(try_network),
    CASE(try_other_sockets),
    CASE(try_huge_pages),
    CASE(try_calls),
    CASE(try_unknown_calls),
    CASE(use_files),
    CASE(use_waiting),
    CASE(use_processes),
    CASE(try_clock),
    CASE(try_root),
    CASE(try_limits),
    CASE(try_host_name),
    CASE(try_descriptors),
    CASE(sleep_long),
    CASE(spin),
    CASE(spin_for),
    CASE(ignore_signals),
    CASE(flood),
    CASE(stop_self),
    CASE(crash),
    CASE(fail),
    CASE(good),
    CASE(hold_page_cache),
    CASE(hold_mapped_file),
    CASE(hold_small_files),
    CASE(share_with_children),
    CASE(hold_host_file_in_children),
    CASE(hold_without_profiler),
    CASE(hold_unless_profiled),
    CASE(fail_if_profiled),
    CASE(reserve_if_profiled),
    CASE(forge_pipe_and_folder),
    CASE(forge_records),
    CASE(make_large_record),
};

int main(int argc, char **argv) {
  if (argc > 2) bytes = strtoull(argv[2], NULL, 10);
  for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) return cases[i].run();
  }
  return 99;
}
