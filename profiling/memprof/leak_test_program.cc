// A program that is known to leak or not, for tests of memprof:
//
//   leak_test_program WAY SEED MS [kill]
//
// For MS milliseconds or more it allocates 6,000 times in Subject by the way
// that is named, and frees as much as it allocates elsewhere; then it returns,
// or is killed.
//
//   leak            nothing is freed
//   leak_tenth      one block of ten is not freed
//   leak_bursts     nothing is freed of what comes in bursts
//   leak_queue      of a queue, a fifth of what leaves is not freed
//   list            what is kept by intention, to the end
//   list_freed      the same, freed in the end
//   table           6,000 blocks at the start
//   load            blocks that come until a fifth to four fifths of the time
//   cache_oldest    a cache of 2,000 blocks; the oldest leaves
//   cache_random    a cache of 2,000 places; any of them is replaced
//   cache_filled    grows as load does, then any block is replaced
//   temporary       each is freed at once
//   queue           its length goes up and down
//   batches         400 at a time
//   buffer          one that is copied to one of twice its size when full

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <vector>

namespace {

constexpr size_t kBound = 2000;
constexpr int kAllocations = 6000;

unsigned long random_state = 0;

unsigned Random(unsigned limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>(random_state >> 33) % limit;
}

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

__attribute__((noinline)) char* Subject(size_t size) {
  char* const block = static_cast<char*>(malloc(size));
  memset(block, 1, size);
  asm volatile("");
  return block;
}

__attribute__((noinline)) char* Temporary(size_t size) {
  char* const block = static_cast<char*>(malloc(size));
  block[0] = 1;
  asm volatile("");
  return block;
}

void Background() {
  static char* blocks[64];
  for (int i = 0; i < 20; ++i) {
    char*& block = blocks[Random(64)];
    free(block);
    block = Temporary(1000 + Random(20000));
  }
}

class Program {
 public:
  explicit Program(const std::string& way)
      : way_(way),
        filled_at_(0.2 + 0.6 * Random(1000) / 1000),
        places_(kBound) {
    if (way_ == "table") {
      for (int i = 0; i < kAllocations; ++i) Keep();
    }
  }

  // Does the step at that share of the time. Returns false if the way is
  // unknown.
  bool Do(double share) { return DoLeak(share) || DoKeep(share) || DoPass(); }

  void End() {
    if (way_ == "list_freed") FreeKept();
  }

 private:
  static size_t Size() { return 500 + Random(8000); }

  void Keep() { kept_.push_back(Subject(Size())); }
  void FreeKept() {
    for (char* block : kept_) free(block);
    kept_.clear();
  }
  static void Replace(char** block) {
    free(*block);
    *block = Subject(Size());
  }

  bool DoLeak(double share) {
    if (way_ == "leak") {
      Subject(Size());
    } else if (way_ == "leak_tenth") {
      for (int i = 0; i < 9; ++i) free(Subject(Size()));
      Subject(Size());
    } else if (way_ == "leak_bursts") {
      if (static_cast<int>(share * 200) % 3 == 0) {
        for (int i = 0; i < 3; ++i) Subject(Size());
      }
    } else if (way_ == "leak_queue") {
      queue_.push_back(Subject(Size()));
      while (queue_.size() > 200 + Random(200)) {
        if (Random(5) != 0) free(queue_.front());
        queue_.pop_front();
      }
    } else {
      return false;
    }
    return true;
  }

  bool DoKeep(double share) {
    if (way_ == "list" || way_ == "list_freed") {
      Keep();
    } else if (way_ == "load") {
      if (share < filled_at_) Keep();
    } else if (way_ == "cache_filled") {
      if (share < filled_at_) {
        Keep();
      } else {
        Replace(&kept_[Random(static_cast<unsigned>(kept_.size()))]);
      }
    } else if (way_ == "cache_oldest") {
      queue_.push_back(Subject(Size()));
      if (queue_.size() > kBound) PopFront();
    } else if (way_ == "cache_random") {
      Replace(&places_[Random(kBound)]);
    } else {
      return way_ == "table";
    }
    return true;
  }

  bool DoPass() {
    if (way_ == "temporary") {
      free(Subject(Size()));
    } else if (way_ == "queue") {
      const size_t change = Random(3) * 20;
      const size_t before = queue_.size();
      while (queue_.size() < before + change) queue_.push_back(Subject(Size()));
      const size_t wanted = queue_.size() < 20 ? 0 : queue_.size() - 20;
      while (queue_.size() > wanted) PopFront();
    } else if (way_ == "batches") {
      Keep();
      if (kept_.size() == 400) FreeKept();
    } else if (way_ == "buffer") {
      used_bytes_ += Size();
      if (used_bytes_ > buffer_bytes_) {
        buffer_bytes_ *= 2;
        char* const larger = Subject(buffer_bytes_);
        free(buffer_);
        buffer_ = larger;
      }
    } else {
      return false;
    }
    return true;
  }

  void PopFront() {
    free(queue_.front());
    queue_.pop_front();
  }

  const std::string way_;
  const double filled_at_;
  std::vector<char*> kept_;
  std::vector<char*> places_;
  std::deque<char*> queue_;
  char* buffer_ = nullptr;
  size_t buffer_bytes_ = 1000;
  size_t used_bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  random_state = static_cast<unsigned long>(atol(argv[2])) * 77777 + 1;
  const double seconds = atof(argv[3]) * 1e-3;
  const double begin = Now();
  Program program(argv[1]);
  // The allocations are the same however slow the machine is.
  for (int done = 0; done < kAllocations; ++done) {
    const double share = static_cast<double>(done) / kAllocations;
    Background();
    while (Now() - begin < share * seconds) usleep(50);
    if (!program.Do(share)) {
      fprintf(stderr, "%s is no way to allocate\n", argv[1]);
      return 2;
    }
  }
  program.End();
  if (argc > 4) kill(getpid(), SIGKILL);
  return 0;
}
