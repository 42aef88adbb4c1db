#include "footprint/base/memory/process_memory.h"

#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace footprint {
namespace {

// Adds an image's loaded segments to the sum, in whole pages.
int AddImage(dl_phdr_info* image, size_t /*size*/, void* sum) {
  if (std::strstr(image->dlpi_name, "vdso") != nullptr) return 0;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = segment.p_vaddr / page * page;
    const uintptr_t end =
        (segment.p_vaddr + segment.p_memsz + page - 1) / page * page;
    *static_cast<int64_t*>(sum) += static_cast<int64_t>(end - begin);
  }
  return 0;
}

// Returns a sum that grows with every child that was waited for, since no
// process runs without taking time, touching a page or leaving a processor.
int64_t WorkOfEndedChildren() {
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto microseconds = [](const timeval& time) {
    return int64_t{time.tv_sec} * 1000000 + time.tv_usec;
  };
  return microseconds(children.ru_utime) + microseconds(children.ru_stime) +
         children.ru_minflt + children.ru_majflt + children.ru_nvcsw +
         children.ru_nivcsw;
}

void AppendChildrenOfThread(const std::string& thread,
                            std::vector<int>* children) {
  std::FILE* list =
      std::fopen(("/proc/self/task/" + thread + "/children").c_str(), "re");
  if (list == nullptr) return;
  int child = 0;
  while (std::fscanf(list, "%d", &child) == 1) children->push_back(child);
  std::fclose(list);
}

// Returns the children of all threads that were not waited for, whether or not
// they have ended. If the kernel does not list them, returns one 0 for all of
// them.
std::vector<int> RemainingChildren() {
  std::vector<int> children;
  siginfo_t unused = {};
  if (waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) != 0 &&
      errno == ECHILD) {
    return children;
  }
  DIR* threads = opendir("/proc/self/task");
  if (threads != nullptr) {
    while (const dirent* thread = readdir(threads)) {
      if (thread->d_name[0] != '.') {
        AppendChildrenOfThread(thread->d_name, &children);
      }
    }
    closedir(threads);
  }
  if (children.empty()) children.push_back(0);
  return children;
}

// Returns whether the kernel forgets children as soon as they end, without a
// sum of their work.
bool LosesChildren() {
  struct sigaction action = {};
  return sigaction(SIGCHLD, nullptr, &action) == 0 &&
         (action.sa_handler == SIG_IGN ||
          (action.sa_flags & SA_NOCLDWAIT) != 0);
}

}  // namespace

int64_t LoadedImageBytes() {
  int64_t sum = 0;
  dl_iterate_phdr(AddImage, &sum);
  return sum;
}

bool HasHadChildProcess() {
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  if (children.ru_maxrss > 0) return true;
  siginfo_t unused = {};
  return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0 ||
         errno != ECHILD;
}

ChildProcessMark::ChildProcessMark()
    : ended_work_(WorkOfEndedChildren()), alive_(RemainingChildren()) {}

bool ChildProcessMark::HasStartedSince() const {
  if (LosesChildren()) return true;
  if (WorkOfEndedChildren() != ended_work_) return true;
  const std::vector<int> alive = RemainingChildren();
  return std::any_of(alive.begin(), alive.end(), [this](int child) {
    return std::find(alive_.begin(), alive_.end(), child) == alive_.end();
  });
}

}  // namespace footprint
