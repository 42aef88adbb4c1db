// Benchmarks over every combination of memos, each loaded once.
//
//   absl::StatusOr<ProductBenchmarks<Model, Data>> cells = Product(
//       "BM_Predict",
//       [](benchmark::State& state, const Model& model, const Data& data) {
//         for (auto _ : state) benchmark::DoNotOptimize(model.Predict(data));
//       },
//       Axis<Model>{"model", {small, large}}, Axis<Data>{"data", {day, week}});
//   if (!cells.ok()) return cells.status();
//
// registers BM_Predict/model:small/data:day and three more with Google
// Benchmark. PlannedBenchmarks (planned_benchmarks.h) runs them: it loads a
// value before the first cell that needs it, outside every timer, once however
// often Google Benchmark calls the function, and evicts it after the last.
// One axis is enough.
//
// Ownership: copies of the memos, to the end of the process. The function's
// references end with the call.
// A function that takes a value by copy does not compile, except scalars and
// where its parameter is a template's. What it throws is shown in its row.
// Thread-safety: register from main's thread, before the run. With Threads(n)
// the function is called by n threads at once, with the same values.

#ifndef FOOTPRINT_MEMO_PRODUCT_PRODUCT_H_
#define FOOTPRINT_MEMO_PRODUCT_PRODUCT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/copied_parameter.h"
#include "footprint/memo/product/product_registry.h"

namespace footprint {

// The memos that one argument of the function goes through.
template <typename T>
struct Axis {
  std::string name;
  std::vector<Memo<T>> memos;
};

// The registered cells; copies are the same cells.
template <typename... Ts>
class ProductBenchmarks {
 public:
  using Task = std::function<absl::Status(const Ts&...)>;

  // Once for a benchmark instance, after its values are loaded and before any
  // timer; its error, or what it throws, is shown in the row instead of a time.
  template <typename Function>
  ProductBenchmarks& Setup(Function task) {
    CheckTask<Function>();
    const Task setup(std::move(task));
    for (auto& [cell, values] : cells_) cell->setup = Bind(setup, values);
    return *this;
  }
  // Once for a benchmark instance that was set up, while its values are there.
  // Its error goes to standard error, and to the exit status.
  template <typename Function>
  ProductBenchmarks& Teardown(Function task) {
    CheckTask<Function>();
    const Task teardown(std::move(task));
    for (auto& [cell, values] : cells_) cell->teardown = Bind(teardown, values);
    return *this;
  }
  // Calls `configure` with the pointer that RegisterBenchmark returned for each
  // cell: [](auto* cell) { cell->Threads(2); }.
  template <typename Configure>
  ProductBenchmarks& ForEach(Configure configure) {
    for (auto* benchmark : benchmarks_) configure(benchmark);
    return *this;
  }

  size_t cell_count() const { return cells_.size(); }

 private:
  template <typename Function, typename... Us>
  friend absl::StatusOr<ProductBenchmarks<Us...>> Product(std::string name,
                                                          Function function,
                                                          Axis<Us>... axes);

  using Values = std::tuple<memo_internal::TypedPlannedMemo<Ts>*...>;
  // benchmark::internal::Benchmark; newer releases have it elsewhere.
  using Benchmark = std::remove_pointer_t<decltype(benchmark::RegisterBenchmark(
      "", std::declval<void (*)(benchmark::State&)>()))>;

  template <typename Function>
  static void CheckTask() {
    static_assert(
        std::is_invocable_r_v<absl::Status, Function&, const Ts&...>,
        "a task takes, of each axis in turn, a const reference to its "
        "value, and returns an absl::Status");
    static_assert(!memo_internal::TakesACopy<Function, Ts...>(),
                  "this task copies a value at each call; take it by const "
                  "reference");
  }

  static std::function<absl::Status()> Bind(Task task, Values values) {
    return [task, values] {
      return std::apply([&](auto*... memos) { return task(memos->value()...); },
                        values);
    };
  }

  template <typename Function>
  void Register(const std::string& product, const std::string& name,
                const std::shared_ptr<Function>& function, Values values) {
    auto made = std::make_unique<memo_internal::ProductCell>();
    made->name = name;
    made->product = product;
    std::apply([&](auto*... memos) { made->memos = {memos...}; }, values);
    made->run = [function, values](benchmark::State& state) {
      std::apply([&](auto*... memos) { (*function)(state, memos->value()...); },
                 values);
    };
    memo_internal::ProductCell* cell =
        memo_internal::ProductRegistry::Get().Add(std::move(made));
    cells_.emplace_back(cell, values);
    benchmarks_.push_back(benchmark::RegisterBenchmark(
        cell->name.c_str(), [cell](benchmark::State& state) {
          memo_internal::RunCell(cell, state);
        }));
  }

  std::vector<std::pair<memo_internal::ProductCell*, Values>> cells_;
  std::vector<Benchmark*> benchmarks_;
};

namespace memo_internal {

// "/model:small/data:day".
template <typename... Ts>
std::string CellSuffix(const std::tuple<Axis<Ts>...>& axes,
                       const std::tuple<Memo<Ts>...>& memos) {
  std::string suffix;
  std::apply(
      [&](const auto&... axis) {
        std::apply(
            [&](const auto&... memo) {
              ((suffix += "/" + axis.name + ":" + memo.name()), ...);
            },
            memos);
      },
      axes);
  return suffix;
}

// Calls `visit` with every combination, the last axis fastest.
template <size_t kAxis = 0, typename Axes, typename Visit, typename... Chosen>
void ForEachCombination(const Axes& axes, const Visit& visit,
                        const Chosen&... chosen) {
  if constexpr (kAxis == std::tuple_size_v<Axes>) {
    visit(std::make_tuple(chosen...));
  } else {
    for (const auto& memo : std::get<kAxis>(axes).memos) {
      ForEachCombination<kAxis + 1>(axes, visit, chosen..., memo);
    }
  }
}

}  // namespace memo_internal

// Registers a cell for every combination, in the order of nested loops.
// InvalidArgument for an empty name, an axis without name or memos, and for two
// cells of one name; nothing is registered then.
template <typename Function, typename... Ts>
absl::StatusOr<ProductBenchmarks<Ts...>> Product(std::string name,
                                                 Function function,
                                                 Axis<Ts>... axes) {
  static_assert(sizeof...(Ts) > 0, "a product needs an axis");
  static_assert(
      std::is_invocable_v<Function&, benchmark::State&, const Ts&...>,
      "the function takes a benchmark::State& and, of each axis in turn, a "
      "const reference to its value");
  static_assert(
      !memo_internal::TakesACopy<Function, benchmark::State, Ts...>(),
      "this function copies a value at each call; take it by const reference");
  for (const absl::Status& status :
       {memo_internal::CheckAxis(name, axes.name, axes.memos.size())...}) {
    if (!status.ok()) return status;
  }
  const std::tuple<Axis<Ts>...> all(std::move(axes)...);
  auto& registry = memo_internal::ProductRegistry::Get();
  std::vector<std::pair<std::string, std::tuple<Memo<Ts>...>>> cells;
  std::vector<std::string> names;
  memo_internal::ForEachCombination(all, [&](std::tuple<Memo<Ts>...> memos) {
    cells.emplace_back(name + memo_internal::CellSuffix(all, memos), memos);
    names.push_back(cells.back().first);
  });
  const absl::Status status = registry.CheckAreNew(std::move(names));
  if (!status.ok()) return status;
  ProductBenchmarks<Ts...> product;
  const auto shared = std::make_shared<Function>(std::move(function));
  for (const auto& [cell_name, memos] : cells) {
    product.Register(name, cell_name, shared,
                     std::apply(
                         [&](const auto&... memo) {
                           return std::make_tuple(registry.FindOrAdd(memo)...);
                         },
                         memos));
  }
  return product;
}

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PRODUCT_H_
