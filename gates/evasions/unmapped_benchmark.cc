// Benchmarks that hold 100 MB that no mapping of a process shows, or only for a
// moment: part of the corpus of evasions_test. Each is measured separately, by
// its name.

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/base/memory/alignment.h"

namespace {

using footprint::kPageBytes;

constexpr size_t kHiddenBytes = 100'000'000;
constexpr size_t kPipeBytes = size_t{1} << 20;
// The bytes that one page of page-table entries can map.
constexpr size_t kTableReach = size_t{2} << 20;

void Touch(void* memory, size_t size = kHiddenBytes) {
  volatile char* const bytes = static_cast<char*>(memory);
  for (size_t i = 0; i < size; i += kPageBytes) bytes[i] = 1;
}

void* MapAnonymous(size_t size, int flags) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1,
              0);
}

void StayAWhile() { usleep(20000); }

// Writes the bytes to the file. Returns false if there is no room.
bool WriteHidden(int file) {
  const std::vector<char> page(kPageBytes, 1);
  for (size_t written = 0; written < kHiddenBytes; written += kPageBytes) {
    if (write(file, page.data(), kPageBytes) !=
        static_cast<ssize_t>(kPageBytes)) {
      return false;
    }
  }
  return true;
}

int MakeHiddenFile() {
  const int file = memfd_create("hidden", 0);
  if (!WriteHidden(file)) std::abort();
  return file;
}

// Closes its descriptors when it is destroyed.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (int file : files_) close(file);
  }
  void Add(int file) { files_.push_back(file); }

 private:
  std::vector<int> files_;
};

void BM_OnePageMapped(benchmark::State& state) {
  for (auto _ : state) {
    const int file = MakeHiddenFile();
    void* const page =
        mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, file, 0);
    StayAWhile();
    munmap(page, kPageBytes);
    close(file);
  }
}
BENCHMARK(BM_OnePageMapped);

void BM_GivenBackMapping(benchmark::State& state) {
  for (auto _ : state) {
    void* const bytes = MapAnonymous(kHiddenBytes, MAP_SHARED);
    // Only a small part of it is mapped at a time.
    for (size_t done = 0; done < kHiddenBytes; done += kPipeBytes) {
      const size_t size = std::min(kPipeBytes, kHiddenBytes - done);
      Touch(static_cast<char*>(bytes) + done, size);
      madvise(static_cast<char*>(bytes) + done, size, MADV_DONTNEED);
    }
    StayAWhile();
    munmap(bytes, kHiddenBytes);
  }
}
BENCHMARK(BM_GivenBackMapping);

void BM_GivenBackSegment(benchmark::State& state) {
  for (auto _ : state) {
    const int segment = shmget(IPC_PRIVATE, kHiddenBytes, 0600);
    void* const bytes = shmat(segment, nullptr, 0);
    shmctl(segment, IPC_RMID, nullptr);
    for (size_t done = 0; done < kHiddenBytes; done += kPipeBytes) {
      const size_t size = std::min(kPipeBytes, kHiddenBytes - done);
      Touch(static_cast<char*>(bytes) + done, size);
      madvise(static_cast<char*>(bytes) + done, size, MADV_DONTNEED);
    }
    StayAWhile();
    shmdt(bytes);
  }
}
BENCHMARK(BM_GivenBackSegment);

void BM_FileOfAThread(benchmark::State& state) {
  for (auto _ : state) {
    std::thread([] {
      if (unshare(CLONE_FILES) != 0) std::abort();
      const int file = MakeHiddenFile();
      StayAWhile();
      close(file);
    }).join();
  }
}
BENCHMARK(BM_FileOfAThread);

// Sends the descriptor `file` through a socket.
void SendFile(int socket, int file) {
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
  if (sendmsg(socket, &message, 0) != 1) std::abort();
}

void BM_FileInFlight(benchmark::State& state) {
  for (auto _ : state) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    // The file is sent before it is full, so that it is never open and large.
    const int file = memfd_create("hidden", 0);
    SendFile(ends[0], file);
    void* const bytes = MapAnonymous(kPipeBytes, MAP_PRIVATE);
    Touch(bytes, kPipeBytes);
    if (!WriteHidden(file)) std::abort();
    close(file);
    StayAWhile();
    munmap(bytes, kPipeBytes);
    close(ends[0]);
    close(ends[1]);
  }
}
BENCHMARK(BM_FileInFlight);

// The file is on a new tmpfs or, if none can be mounted, on the existing one.
void BM_UnlinkedFile(benchmark::State& state) {
  std::string folder = "/tmp/hidden.XXXXXX";
  const bool has_own =
      mkdtemp(&folder[0]) != nullptr && unshare(CLONE_NEWNS) == 0 &&
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      mount("tmpfs", folder.c_str(), "tmpfs", 0, "") == 0;
  std::string path = (has_own ? folder : "/dev/shm") + "/hidden.XXXXXX";
  for (auto _ : state) {
    std::string name = path;
    const int file = mkstemp(&name[0]);
    unlink(name.c_str());
    if (!WriteHidden(file)) std::abort();
    StayAWhile();
    close(file);
  }
  if (has_own) umount2(folder.c_str(), MNT_DETACH);
  rmdir(folder.c_str());
}
BENCHMARK(BM_UnlinkedFile);

// Opens a pipe. Returns its capacity, up to one MiB as the system allows, or 0
// if it cannot be opened.
size_t OpenPipe(Descriptors* files, int ends[2]) {
  if (pipe2(ends, O_NONBLOCK) != 0) return 0;
  files->Add(ends[0]);
  files->Add(ends[1]);
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return static_cast<size_t>(fcntl(ends[1], F_GETPIPE_SZ));
}

void BM_Pipes(benchmark::State& state) {
  const std::vector<char> bytes(kPipeBytes, 1);
  for (auto _ : state) {
    Descriptors files;
    for (size_t held = 0; held < kHiddenBytes;) {
      int ends[2];
      const size_t size = OpenPipe(&files, ends);
      const ssize_t written =
          size == 0 ? 0 : write(ends[1], bytes.data(), size);
      if (written <= 0) {
        state.SkipWithError("no room in pipes");
        break;
      }
      held += static_cast<size_t>(written);
    }
    StayAWhile();
  }
}
BENCHMARK(BM_Pipes);

void BM_SplicedPages(benchmark::State& state) {
  for (auto _ : state) {
    Descriptors files;
    for (size_t held = 0; held < kHiddenBytes;) {
      int ends[2];
      const size_t size = OpenPipe(&files, ends);
      void* const bytes = MapAnonymous(kPipeBytes, MAP_PRIVATE);
      madvise(bytes, kPipeBytes, MADV_NOHUGEPAGE);
      Touch(bytes, kPipeBytes);
      iovec data = {bytes, size};
      const ssize_t spliced =
          size == 0 ? 0 : vmsplice(ends[1], &data, 1, SPLICE_F_GIFT);
      munmap(bytes, kPipeBytes);
      if (spliced <= 0) {
        state.SkipWithError("no room in pipes");
        break;
      }
      held += static_cast<size_t>(spliced);
    }
    StayAWhile();
  }
}
BENCHMARK(BM_SplicedPages);

void BM_SocketBuffers(benchmark::State& state) {
  const std::vector<char> bytes(65536, 1);
  for (auto _ : state) {
    Descriptors files;
    for (size_t held = 0; held < kHiddenBytes;) {
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) {
        state.SkipWithError("no room in sockets");
        break;
      }
      files.Add(ends[0]);
      files.Add(ends[1]);
      const int size = 1 << 20;
      setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
      ssize_t sent;
      while ((sent = write(ends[0], bytes.data(), bytes.size())) > 0) {
        held += static_cast<size_t>(sent);
      }
    }
    StayAWhile();
  }
}
BENCHMARK(BM_SocketBuffers);

// All entries point to the zero page, which counts for no process.
void BM_PageTables(benchmark::State& state) {
  constexpr size_t kTables = kHiddenBytes / kPageBytes + 1;
  for (auto _ : state) {
    void* const bytes =
        mmap(nullptr, kTables * kTableReach, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    madvise(bytes, kTables * kTableReach, MADV_NOHUGEPAGE);
    const volatile char* const read = static_cast<char*>(bytes);
    for (size_t i = 0; i < kTables; ++i) (void)read[i * kTableReach];
    StayAWhile();
    munmap(bytes, kTables * kTableReach);
  }
}
BENCHMARK(BM_PageTables);

void BM_RequestRings(benchmark::State& state) {
  constexpr unsigned kEntries = 32768;
  constexpr size_t kRingBytes = size_t{kEntries} * 128;
  for (auto _ : state) {
    Descriptors files;
    for (size_t held = 0; held < kHiddenBytes; held += kRingBytes) {
      io_uring_params parameters = {};
      const long ring = syscall(SYS_io_uring_setup, kEntries, &parameters);
      if (ring < 0) {
        state.SkipWithError("no io_uring");
        break;
      }
      files.Add(static_cast<int>(ring));
    }
    StayAWhile();
  }
}
BENCHMARK(BM_RequestRings)->Iterations(1);  // they are freed a moment later

// Starts `count` children that together hold the bytes for a moment.
void HoldInChildren(int count) {
  int ready[2];
  int go[2];
  if (pipe(ready) != 0 || pipe(go) != 0) std::abort();
  const size_t size = kHiddenBytes / static_cast<size_t>(count);
  for (int i = 0; i < count; ++i) {
    if (fork() != 0) continue;
    close(go[1]);
    Touch(MapAnonymous(size, MAP_PRIVATE), size);
    (void)!write(ready[1], "x", 1);
    char byte;
    (void)!read(go[0], &byte, 1);  // until all children hold their bytes
    _exit(0);
  }
  char byte;
  for (int i = 0; i < count; ++i) (void)!read(ready[0], &byte, 1);
  close(go[1]);
  for (int i = 0; i < count; ++i) wait(nullptr);
  close(go[0]);
  close(ready[0]);
  close(ready[1]);
}

void BM_ManyChildren(benchmark::State& state) {
  for (auto _ : state) HoldInChildren(32);
}
BENCHMARK(BM_ManyChildren)->Iterations(1);

// Many mappings make each measurement from outside take long, so there are few
// of them.
void BM_DearLooks(benchmark::State& state) {
  constexpr size_t kMappings = 10000;
  for (auto _ : state) {
    char* const bytes = static_cast<char*>(
        MapAnonymous(kMappings * kPageBytes, MAP_PRIVATE | MAP_NORESERVE));
    for (size_t i = 0; i < kMappings; i += 2) {
      mprotect(bytes + i * kPageBytes, kPageBytes, PROT_READ);
    }
    StayAWhile();
    HoldInChildren(4);
    munmap(bytes, kMappings * kPageBytes);
  }
}
BENCHMARK(BM_DearLooks)->Iterations(1);

// Ten workers, each with its own file.
void BM_FilesOfWorkers(benchmark::State& state) {
  constexpr int kWorkers = 10;
  constexpr size_t kFileBytes = kHiddenBytes / kWorkers;
  for (auto _ : state) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    for (int i = 0; i < kWorkers; ++i) {
      if (fork() != 0) continue;
      std::string path = "worker.XXXXXX";  // in the folder of this run
      const int file = mkstemp(&path[0]);
      unlink(path.c_str());
      if (ftruncate(file, kFileBytes) != 0) _exit(1);
      Touch(mmap(nullptr, kFileBytes, PROT_WRITE, MAP_SHARED, file, 0),
            kFileBytes);
      (void)!write(ends[1], "x", 1);
      usleep(500000);
      _exit(0);
    }
    char byte;
    for (int i = 0; i < kWorkers; ++i) (void)!read(ends[0], &byte, 1);
    for (int i = 0; i < kWorkers; ++i) wait(nullptr);
    close(ends[0]);
    close(ends[1]);
  }
}
BENCHMARK(BM_FilesOfWorkers)->Iterations(1);

// Maps the same 26 MB four times, which is not an evasion.
void BM_RingBuffer(benchmark::State& state) {
  constexpr size_t kRingBytes = 26'000'000;
  for (auto _ : state) {
    const int file = memfd_create("ring", 0);
    if (ftruncate(file, kRingBytes) != 0) std::abort();
    void* views[4];
    for (void*& view : views) {
      view = mmap(nullptr, kRingBytes, PROT_WRITE, MAP_SHARED, file, 0);
      Touch(view, kRingBytes);
    }
    StayAWhile();
    for (void* view : views) munmap(view, kRingBytes);
    close(file);
  }
}
BENCHMARK(BM_RingBuffer);

// Leaves a child behind that holds its bytes after the program has ended.
void BM_LeftBehind(benchmark::State& state) {
  for (auto _ : state) {
    if (fork() == 0) {
      if (fork() != 0) _exit(0);
      setsid();
      sleep(2);  // beyond the program's end
      Touch(MapAnonymous(kHiddenBytes, MAP_PRIVATE));
      while (true) pause();
    }
    wait(nullptr);
  }
}
BENCHMARK(BM_LeftBehind)->Iterations(1);

}  // namespace
