// Compares the tree with every possible order of random programs, whose threads
// create and join each other. FOOTPRINT_PROPERTY_SEEDS sets how many seeds are
// tried.

#include "footprint/profiling/heap/thread_tree.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "footprint/base/random/property_seeds.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr PhaseSet kRegistered = 1;

enum class Step { kAdd, kCreate, kJoin };

struct Operation {
  Step step = Step::kAdd;
  int64_t bytes = 0;  // For kAdd.
  int thread = 0;     // For the other steps.
};

struct Program {
  std::vector<std::vector<Operation>> threads;
  bool joins_all = true;
};

void AppendThread(int depth, std::mt19937* random, Program* program) {
  const size_t self = program->threads.size();
  program->threads.emplace_back();
  std::vector<Operation> operations;
  std::vector<int> children;
  const auto join = [&](size_t index) {
    operations.push_back({Step::kJoin, 0, children[index]});
    children.erase(children.begin() + static_cast<ptrdiff_t>(index));
  };
  const int length = static_cast<int>((*random)() % 5);
  for (int i = 0; i < length; ++i) {
    const uint32_t choice = (*random)() % 10;
    if (choice < 4) {
      operations.push_back(
          {Step::kAdd, static_cast<int64_t>((*random)() % 19) - 7, 0});
    } else if (choice < 8 && depth < 2 && program->threads.size() < 6) {
      children.push_back(static_cast<int>(program->threads.size()));
      operations.push_back({Step::kCreate, 0, children.back()});
      AppendThread(depth + 1, random, program);
    } else if (!children.empty()) {
      join((*random)() % children.size());
    }
  }
  while (!children.empty() && program->joins_all) join(0);
  program->threads[self] = operations;
}

// The state of a run: how far each thread is, or -1 before its creation.
using Places = std::vector<int>;

Places Begin(const Program& program) {
  Places places(program.threads.size(), -1);
  places[0] = 0;
  return places;
}

const Operation* Next(const Program& program, const Places& places,
                      size_t thread) {
  const std::vector<Operation>& operations = program.threads[thread];
  if (places[thread] < 0 ||
      places[thread] == static_cast<int>(operations.size())) {
    return nullptr;
  }
  const Operation& next = operations[static_cast<size_t>(places[thread])];
  if (next.step == Step::kJoin) {
    const auto joined = static_cast<size_t>(next.thread);
    if (places[joined] != static_cast<int>(program.threads[joined].size())) {
      return nullptr;
    }
  }
  return &next;
}

void Advance(const Operation& operation, size_t thread, Places* places) {
  ++(*places)[thread];
  if (operation.step == Step::kCreate) {
    (*places)[static_cast<size_t>(operation.thread)] = 0;
  }
}

struct Truth {
  int64_t highest_net_bytes = 0;
  bool overlaps = false;
};

// Computes the truth over every order of the operations.
Truth TryEveryOrder(const Program& program) {
  Truth truth;
  std::set<Places> seen;
  std::deque<std::pair<Places, int64_t>> waiting = {{Begin(program), 0}};
  while (!waiting.empty()) {
    const auto [places, bytes] = waiting.front();
    waiting.pop_front();
    if (!seen.insert(places).second) continue;
    truth.highest_net_bytes = std::max(truth.highest_net_bytes, bytes);
    int adding_count = 0;
    for (size_t thread = 0; thread < places.size(); ++thread) {
      const Operation* const next = Next(program, places, thread);
      if (next == nullptr) continue;
      if (next->step == Step::kAdd) ++adding_count;
      Places then = places;
      Advance(*next, thread, &then);
      waiting.emplace_back(then, bytes + next->bytes);
    }
    truth.overlaps |= adding_count > 1;
  }
  return truth;
}

// Computes the header's definition from the text of the program.
class Definition {
 public:
  explicit Definition(const Program& program) : program_(program) {}

  int64_t SumBytes() const {
    int64_t sum = FindHighest(0);
    std::vector<bool> is_joined(program_.threads.size());
    for (const auto& operations : program_.threads) {
      for (const Operation& operation : operations) {
        if (operation.step == Step::kJoin) {
          is_joined[static_cast<size_t>(operation.thread)] = true;
        }
      }
    }
    for (size_t i = 1; i < is_joined.size(); ++i) {
      if (!is_joined[i]) sum += FindHighest(i);
    }
    return sum;
  }

 private:
  int64_t FindNet(size_t thread) const {
    int64_t net = 0;
    for (const Operation& operation : program_.threads[thread]) {
      net += operation.bytes;
      if (operation.step == Step::kJoin) {
        net += FindNet(static_cast<size_t>(operation.thread));
      }
    }
    return net;
  }

  bool Joins(size_t thread, int child) const {
    for (const Operation& operation : program_.threads[thread]) {
      if (operation.step == Step::kJoin && operation.thread == child) {
        return true;
      }
    }
    return false;
  }

  int64_t FindHighest(size_t thread) const {
    int64_t own = 0;
    int64_t alive = 0;
    int64_t highest = 0;
    for (const Operation& operation : program_.threads[thread]) {
      const auto other = static_cast<size_t>(operation.thread);
      if (operation.step == Step::kCreate && Joins(thread, operation.thread)) {
        alive += FindHighest(other);
      } else if (operation.step == Step::kJoin) {
        alive -= FindHighest(other);
        own += FindNet(other);
      }
      own += operation.bytes;
      highest = std::max(highest, own + alive);
    }
    return highest;
  }

  const Program& program_;
};

// Runs the program in one random order and reports it to a tree as the process
// would.
class Simulation {
 public:
  Simulation(const Program& program, std::mt19937* random)
      : program_(program),
        random_(random),
        places_(Begin(program)),
        nodes_(program.threads.size()),
        peaks_(program.threads.size()) {}

  void Run(size_t phase_begins_at = 0) {
    for (size_t count = 0;; ++count) {
      if (count == phase_begins_at) BeginPhaseHere();
      std::vector<size_t> ready;
      for (size_t thread = 0; thread < places_.size(); ++thread) {
        if (Next(program_, places_, thread) != nullptr) ready.push_back(thread);
      }
      if (ready.empty()) break;
      DoNext(ready[(*random_)() % ready.size()]);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) EndSegment(i);
  }

  // Adds up the bytes of all roots.
  int64_t SumBytes() const {
    int64_t sum = 0;
    for (const ThreadNode& node : nodes_) {
      if (IsRoot(node)) sum += HighestNetBytes(0, node);
    }
    return sum;
  }
  bool ThreadsOverlap() const {
    int active_count = 0;
    bool overlaps = false;
    for (const ThreadNode& node : nodes_) {
      if (!IsRoot(node)) continue;
      overlaps |= Overlaps(0, node);
      active_count += IsActive(0, node) ? 1 : 0;
    }
    return overlaps || active_count > 1;
  }
  int64_t highest_net_bytes() const { return highest_bytes_; }

 private:
  bool IsRoot(const ThreadNode& node) const {
    return node.creator == nullptr && joined_.count(&node) == 0;
  }

  void BeginPhaseHere() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      BeginPhase(0, &nodes_[i]);
      peaks_[i] = nodes_[i].live_bytes;
    }
    bytes_ = highest_bytes_ = 0;
  }

  void EndSegment(size_t thread) {
    RaiseHighest(kRegistered, peaks_[thread], &nodes_[thread]);
    peaks_[thread] = nodes_[thread].live_bytes;
  }

  void DoNext(size_t thread) {
    const Operation operation = *Next(program_, places_, thread);
    Advance(operation, thread, &places_);
    ThreadNode* const node = &nodes_[thread];
    ThreadNode* const other = &nodes_[static_cast<size_t>(operation.thread)];
    switch (operation.step) {
      case Step::kAdd:
        node->live_bytes += operation.bytes;
        ++node->activity;
        peaks_[thread] = std::max(peaks_[thread], node->live_bytes);
        bytes_ += operation.bytes;
        highest_bytes_ = std::max(highest_bytes_, bytes_);
        break;
      case Step::kCreate:
        EndSegment(thread);
        AddChild(kRegistered, node, other);
        EndIfOver(static_cast<size_t>(operation.thread));
        break;
      case Step::kJoin:
        EndSegment(thread);
        JoinChild(kRegistered, other);
        joined_.insert(other);
        break;
    }
    EndIfOver(thread);
  }

  void EndIfOver(size_t thread) {
    if (places_[thread] != static_cast<int>(program_.threads[thread].size())) {
      return;
    }
    EndSegment(thread);
    while (nodes_[thread].first_child != nullptr) {
      DetachChild(kRegistered, nodes_[thread].first_child);
    }
  }

  const Program& program_;
  std::mt19937* const random_;
  Places places_;
  std::vector<ThreadNode> nodes_;
  std::vector<int64_t> peaks_;
  std::set<const ThreadNode*> joined_;
  int64_t bytes_ = 0;
  int64_t highest_bytes_ = 0;
};

TEST(ThreadTreeTest, IsWhatEveryOrderCanBe) {
  int overlap_count = 0;
  int order_count = 0;
  const uint32_t seed_count = 20 * PropertySeedCount();
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Program program;
    program.joins_all = seed % 4 != 0;
    AppendThread(0, &random, &program);
    const Truth truth = TryEveryOrder(program);
    for (int run = 0; run < 4; ++run) {
      Simulation simulation(program, &random);
      simulation.Run();
      EXPECT_EQ(simulation.SumBytes(), Definition(program).SumBytes());
      EXPECT_GE(simulation.SumBytes(), truth.highest_net_bytes);
      if (program.joins_all) {
        EXPECT_EQ(simulation.ThreadsOverlap(), truth.overlaps);
      } else {
        EXPECT_GE(simulation.ThreadsOverlap(), truth.overlaps);
      }
      if (!simulation.ThreadsOverlap()) {
        EXPECT_EQ(simulation.highest_net_bytes(), truth.highest_net_bytes);
        ++order_count;
      } else {
        ++overlap_count;
      }
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(overlap_count, 0);
  EXPECT_GT(order_count, 0);
}

// A phase begins anywhere. Threads that were joined before are not in it;
// others are in it from its start.
TEST(ThreadTreeTest, BoundsAPhaseThatBeginsAnywhere) {
  const uint32_t seed_count = 20 * PropertySeedCount();
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Program program;
    AppendThread(0, &random, &program);
    Simulation simulation(program, &random);
    simulation.Run(/*phase_begins_at=*/random() % 10);
    EXPECT_GE(simulation.SumBytes(), simulation.highest_net_bytes());
    ASSERT_FALSE(HasFailure());
  }
}

// Four threads of 100 bytes: in turn, in pairs, and all at once.
TEST(ThreadTreeTest, CountsThoseThatCanBeAliveAtOnce) {
  for (int at_once : {1, 2, 4}) {
    Program program;
    program.threads.resize(5);
    for (int first = 1; first <= 4; first += at_once) {
      for (int i = first; i < first + at_once; ++i) {
        program.threads[0].push_back({Step::kCreate, 0, i});
      }
      for (int i = first; i < first + at_once; ++i) {
        program.threads[0].push_back({Step::kJoin, 0, i});
      }
    }
    for (size_t i = 1; i <= 4; ++i) {
      program.threads[i] = {{Step::kAdd, 100, 0}, {Step::kAdd, -100, 0}};
    }
    std::mt19937 random(1);
    Simulation simulation(program, &random);
    simulation.Run();
    EXPECT_EQ(simulation.SumBytes(), 100 * at_once);
    EXPECT_EQ(simulation.ThreadsOverlap(), at_once > 1);
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
