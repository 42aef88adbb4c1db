// The part of a product that does not depend on its types; see product.h.
//
//   ProductCell* const cell = ProductRegistry::Get().FindCell(name);
//   if (cell != nullptr) RunCell(cell, state);
//
// The registry owns cells and memos to the end of the process. Memory: some
// hundred bytes per cell.

#ifndef FOOTPRINT_MEMO_PRODUCT_PRODUCT_REGISTRY_H_
#define FOOTPRINT_MEMO_PRODUCT_PRODUCT_REGISTRY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "benchmark/benchmark.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/axis.h"

namespace footprint {

// The facts that a task gets about the instance that it runs for.
struct InstanceState {
  // The name that Google Benchmark gives the instance:
  // BM_Predict/model:small/data:day/threads:2.
  std::string name;
  // The product: BM_Predict.
  std::string family;
  // The index of this instance among the product's instances of this run, in
  // running order: the last one has family_size - 1.
  size_t family_index = 0;
  size_t family_size = 0;
};

namespace memo_internal {

// A memo of any type, and the pin on its value.
class PlannedMemo {
 public:
  virtual ~PlannedMemo() = default;
  virtual const std::string& name() const = 0;
  virtual MemoStatistics statistics() const = 0;
  // Loads and pins the value; returns ok at once if it is pinned.
  virtual absl::Status Load() = 0;
  virtual bool is_pinned() const = 0;
  // Unpin and PinAgain surround a task that may evict the value. PinAgain
  // returns false if the value is gone.
  virtual void Unpin() = 0;
  virtual bool PinAgain() = 0;
  // Unpins, evicts and purges. Returns the errors of Memo::Evict, such as
  // FailedPrecondition if something else has a pin.
  virtual absl::Status Evict() = 0;
};

template <typename T>
class TypedPlannedMemo final : public PlannedMemo {
 public:
  explicit TypedPlannedMemo(Memo<T> memo) : memo_(std::move(memo)) {}

  const std::string& name() const override { return memo_.name(); }
  MemoStatistics statistics() const override { return memo_.statistics(); }
  absl::Status Load() override {
    if (handle_.has_value()) return absl::OkStatus();
    absl::StatusOr<Handle<T>> handle = memo_.Get();
    if (!handle.ok()) return handle.status();
    handle_.emplace(*std::move(handle));
    value_ = handle_->get();
    return absl::OkStatus();
  }
  bool is_pinned() const override { return handle_.has_value(); }
  void Unpin() override { handle_.reset(); }
  bool PinAgain() override {
    return memo_.statistics().is_loaded && Load().ok();
  }
  absl::Status Evict() override {
    handle_.reset();
    return memo_.Evict();
  }
  // Returns the value of the last load.
  const T& value() const { return *value_; }

 private:
  Memo<T> memo_;
  absl::optional<Handle<T>> handle_;
  const T* value_ = nullptr;
};

// An argument of a registered cell.
template <typename T>
class BoundArgument {
 public:
  explicit BoundArgument(TypedPlannedMemo<T>* memo) : memo_(memo) {}
  explicit BoundArgument(std::shared_ptr<const T> value)
      : value_(std::move(value)) {}

  const T& value() const { return memo_ != nullptr ? memo_->value() : *value_; }
  // Returns null for a plain value.
  PlannedMemo* memo() const { return memo_; }

 private:
  TypedPlannedMemo<T>* memo_ = nullptr;
  std::shared_ptr<const T> value_;
};

// One registered benchmark of a product.
struct ProductCell {
  using Task = std::function<absl::Status(const InstanceState&)>;

  std::string name;
  std::string product;
  std::vector<PlannedMemo*> memos;
  std::function<void(benchmark::State&)> run;
  Task setup;
  Task teardown;
  // True while a planned run is at this cell. `error` then says why the cell
  // cannot run; it is ok if the values are loaded and the setup succeeded.
  bool is_planned = false;
  absl::Status error;
  // The first exception of `run`, which several threads may call.
  Mutex mutex;
  absl::Status thrown ABSL_GUARDED_BY(mutex);
};

// Returns InvalidArgument if the axis has no entry, or if a name is empty or
// has a line break.
absl::Status CheckAxis(const std::string& product, const std::string& axis,
                       size_t entry_count);

// Runs the cell, or shows its error in its row; Google Benchmark calls it.
void RunCell(ProductCell* cell, benchmark::State& state);

// Returns the error that a run of the cell threw, and clears it.
absl::Status TakeThrown(ProductCell* cell);

// All products of the process. Not thread-safe: use it on the main thread.
// Never destroyed.
class ProductRegistry {
 public:
  static ProductRegistry& Get();

  // Returns the one PlannedMemo of the memo, however many products name it.
  template <typename T>
  TypedPlannedMemo<T>* FindOrAdd(const Memo<T>& memo) {
    std::unique_ptr<PlannedMemo>& entry = memos_[memo.name()];
    if (entry == nullptr) entry = std::make_unique<TypedPlannedMemo<T>>(memo);
    // A name belongs to one type, see MakeMemo.
    return static_cast<TypedPlannedMemo<T>*>(entry.get());
  }

  template <typename T>
  BoundArgument<T> Bind(const CellArgument<T>& argument) {
    return argument.memo().has_value()
               ? BoundArgument<T>(FindOrAdd(*argument.memo()))
               : BoundArgument<T>(argument.value());
  }

  // Returns InvalidArgument if a name occurs twice, belongs to a cell, or has a
  // zero byte or a line break.
  absl::Status CheckAreNew(std::vector<std::string> cell_names) const;
  // Adds a cell, whose name must be new, and returns it.
  ProductCell* Add(std::unique_ptr<ProductCell> cell);

  // Returns the cell that a benchmark instance belongs to, or null for other
  // benchmarks. Google Benchmark appends text such as "/threads:2" to a cell's
  // name.
  ProductCell* FindCell(absl::string_view instance_name) const;

  // Records a cell that Google Benchmark called while the plan had another one
  // to run, or while no plan ran. Thread-safe.
  void NoteUnplannedCall(const std::string& cell_name);
  // Returns the recorded names and clears them.
  std::set<std::string> TakeUnplannedCalls();

 private:
  std::map<std::string, std::unique_ptr<PlannedMemo>> memos_;
  std::map<std::string, std::unique_ptr<ProductCell>> cells_;
  Mutex mutex_;
  std::set<std::string> unplanned_calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memo_internal
}  // namespace footprint

// Tested by product_test, product_tasks_test and planned_benchmarks_test.

#endif  // FOOTPRINT_MEMO_PRODUCT_PRODUCT_REGISTRY_H_
