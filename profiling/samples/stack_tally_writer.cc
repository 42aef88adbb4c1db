#include "footprint/profiling/samples/stack_tally_writer.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/samples/hash_chain.h"
#include "footprint/profiling/sites/loaded_object.h"
#include "footprint/profiling/sites/number_index.h"
#include "footprint/profiling/sites/thread_number.h"

namespace footprint::profiling_internal {
namespace {

constexpr uint32_t kNoRoom = UINT32_MAX;

// Returns the index of a new entry of an array, or kNoRoom if the array or the
// disk is full.
uint32_t TakeEntry(std::atomic<uint32_t>* count, uint32_t capacity,
                   GrowingArray* array) {
  uint32_t number = count->load(std::memory_order_relaxed);
  do {
    if (number >= capacity || !array->Reach(number)) return kNoRoom;
  } while (!count->compare_exchange_weak(number, number + 1,
                                         std::memory_order_relaxed));
  return number;
}

void AddTo(std::atomic<double>* sum, double value) {
  double before = sum->load(std::memory_order_relaxed);
  while (!sum->compare_exchange_weak(before, before + value,
                                     std::memory_order_relaxed)) {
  }
}

void NoteFull(StackTalliesFile* file) {
  file->tree.is_full.store(1, std::memory_order_relaxed);
}

bool IsFull(const StackTalliesFile* file) {
  return file->tree.is_full.load(std::memory_order_relaxed) != 0;
}

}  // namespace

bool StackTallyWriter::Begin(int folder, const char* file_name,
                             int64_t sampling_interval) {
  Close();
  if (Open(folder, file_name, sampling_interval)) return true;
  Close();
  // An empty file is not a valid record, so it is removed.
  unlinkat(folder, file_name, 0);
  return false;
}

bool StackTallyWriter::Open(int folder, const char* file_name,
                            int64_t sampling_interval) {
  auto* const opened = static_cast<StackTalliesFile*>(
      file_.Create(folder, file_name, sizeof(StackTalliesFile),
                   offsetof(StackTalliesFile, tallies)));
  if (opened == nullptr) return false;
  constexpr size_t kTreeAt = offsetof(StackTalliesFile, tree);
  // The tree's head, which stands before its arrays.
  GrowingArray tree_head(&file_, kTreeAt, 1, 1);
  nodes_ = GrowingArray(&file_, kTreeAt + offsetof(CallTreeRecord, nodes),
                        sizeof(CallNode), kMaxCallNodes);
  modules_ = GrowingArray(&file_, kTreeAt + offsetof(CallTreeRecord, modules),
                          sizeof(ModuleRecord), kMaxModules);
  next_nodes_ = GrowingArray(&file_, offsetof(StackTalliesFile, next_nodes),
                             sizeof(uint32_t), kMaxCallNodes);
  tally_array_ = GrowingArray(&file_, offsetof(StackTalliesFile, tallies),
                              sizeof(StackTally), kMaxStackTallies);
  if (!tree_head.Reach(0) || !nodes_.Reach(0) || !next_nodes_.Reach(0) ||
      !modules_.Reach(0) || !tally_array_.Reach(0)) {
    return false;
  }
  opened->sampling_interval = sampling_interval;
  // The entries with index 0 stand for no entry.
  opened->tally_count = 1;
  opened->tree.node_count = 1;
  __atomic_store_n(&opened->magic, kStackTalliesMagic, __ATOMIC_RELEASE);
  __atomic_store_n(&tallies_, opened, __ATOMIC_RELEASE);
  return true;
}

void StackTallyWriter::Close() {
  __atomic_store_n(&tallies_, nullptr, __ATOMIC_RELEASE);
  file_.Close();
}

// Returns the module of the object that contains the code now. Threads that
// find a new one at once each write an entry; an entry that is still being
// written matches nothing.
uint32_t StackTallyWriter::FindModule(StackTalliesFile* file,
                                      uintptr_t program_counter) {
  if ((program_counter & kInterpretedCall) != 0) return kInterpretedModule;
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(program_counter), &found) != 0) {
    return kNoModule;
  }
  const auto begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  CallTreeRecord* const tree = &file->tree;
  for (uint32_t i = tree->module_count.load(std::memory_order_acquire);
       i-- > 0;) {
    const ModuleRecord& module = tree->modules[i];
    if (__atomic_load_n(&module.begin_address, __ATOMIC_ACQUIRE) == begin &&
        IsLoadedObject(module, found)) {
      return i;
    }
  }
  const uint32_t number =
      TakeEntry(&tree->module_count, kMaxModules, &modules_);
  if (number == kNoRoom) {
    NoteFull(file);
    return kNoModule;
  }
  DescribeLoadedObject(found, &tree->modules[number]);
  return number;
}

uint32_t StackTallyWriter::FindNode(StackTalliesFile* file, uint32_t parent,
                                    uintptr_t program_counter) {
  CallTreeRecord* const tree = &file->tree;
  const auto matches = [&](uint32_t i) {
    return tree->nodes[i].program_counter == program_counter &&
           tree->nodes[i].parent == parent;
  };
  const auto next = [&](uint32_t i) { return file->next_nodes[i]; };
  std::atomic<uint32_t>* const chain =
      &file->first_nodes[(HashPair(parent, program_counter) >> 20) %
                         kNodeBuckets];
  const uint32_t first = chain->load(std::memory_order_acquire);
  const uint32_t known = FindInChain(first, kNoEntry, matches, next);
  if (known != kNoEntry || IsFull(file)) return known;
  const uint32_t module = FindModule(file, program_counter);
  const uint32_t number = TakeEntry(&tree->node_count, kMaxCallNodes, &nodes_);
  if (number == kNoRoom || !next_nodes_.Reach(number)) {
    NoteFull(file);
    return kNoEntry;
  }
  tree->nodes[number] = {program_counter, parent, module};
  return PushInFront(
      chain, first, number, matches, next,
      [&](uint32_t i, uint32_t after) { file->next_nodes[i] = after; });
}

StackTally* StackTallyWriter::FindTally(StackTalliesFile* file, uint32_t node,
                                        uint32_t thread, uint32_t stage) {
  const auto matches = [&](uint32_t i) {
    const StackTally& tally = file->tallies[i];
    return tally.node == node && tally.thread == thread && tally.stage == stage;
  };
  const auto next = [&](uint32_t i) { return file->tallies[i].next; };
  std::atomic<uint32_t>* const chain =
      &file->first_tallies[(HashPair(HashPair(node, thread), stage) >> 20) %
                           kTallyBuckets];
  const uint32_t first = chain->load(std::memory_order_acquire);
  uint32_t number = FindInChain(first, kNoEntry, matches, next);
  if (number == kNoEntry && !IsFull(file)) {
    number = TakeEntry(&file->tally_count, kMaxStackTallies, &tally_array_);
    if (number == kNoRoom) {
      NoteFull(file);
      return nullptr;
    }
    file->tallies[number].node = node;
    file->tallies[number].thread = thread;
    file->tallies[number].stage = stage;
    number = PushInFront(
        chain, first, number, matches, next,
        [&](uint32_t i, uint32_t after) { file->tallies[i].next = after; });
  }
  return number == kNoEntry ? nullptr : &file->tallies[number];
}

void StackTallyWriter::Add(const uintptr_t* calls, int count,
                           const TallyAddition& addition) {
  StackTalliesFile* const file = tallies();
  if (file == nullptr) return;
  uint32_t node = kRootNode;
  for (int i = count; i-- > 0;) {
    const uint32_t inner = FindNode(file, node, calls[i]);
    if (inner == kNoEntry) break;
    node = inner;
  }
  StackTally* const tally =
      FindTally(file, node, ThreadNumber(), CurrentStage());
  if (tally == nullptr) return;
  tally->sample_count.fetch_add(addition.sample_count,
                                std::memory_order_relaxed);
  for (int i = 0; i < kTallyAmounts; ++i) {
    tally->amounts[i].fetch_add(addition.amounts[i], std::memory_order_relaxed);
  }
  if (addition.variance != 0) AddTo(&tally->variance, addition.variance);
}

void StackTallyWriter::AddMissedThread() {
  StackTalliesFile* const file = tallies();
  if (file == nullptr) return;
  file->missed_thread_count.fetch_add(1, std::memory_order_relaxed);
}

void StackTallyWriter::ForgetCode() {
  StackTalliesFile* const file = tallies();
  if (file == nullptr) return;
  for (std::atomic<uint32_t>& first : file->first_nodes) {
    first.store(kNoEntry, std::memory_order_relaxed);
  }
}

}  // namespace footprint::profiling_internal
