// Benchmarks over every combination of memos, each loaded once.
//
//   absl::StatusOr<ProductBenchmarks<Model, Data>> cells = Product(
//       "BM_Predict",
//       [](benchmark::State& state, const Model& model, const Data& data) {
//         for (auto _ : state) benchmark::DoNotOptimize(model.Predict(data));
//       },
//       MakeAxis<Model>("model", {"small", "large"}, ReadModel),
//       MakeAxis<Data>("data", {"day", "week"}, ReadData));
//   if (!cells.ok()) return cells.status();
//
// This registers BM_Predict/model:small/data:day and three more with Google
// Benchmark. PlannedBenchmarks (planned_benchmarks.h) runs them: it loads a
// value before the first cell that needs it, outside every timer, once however
// often Google Benchmark calls the function, and evicts it after the last. One
// axis is enough; axis.h has axes of plain values, zips and lists of cells.
//
// You need not evict: the runner does. A teardown may evict by
// GetMemoByValue(model)->Evict(), since the runner does not pin the values
// while the teardown runs. The value ends there, and so does the reference to
// it. If a later cell needs the value, it is loaded again, and standard error
// says so. At any other time the runner pins each value that it has loaded, and
// Evict() refuses.
//
// Ownership: copies of the memos live to the end of the process. The function's
// references are valid during the call. Memory: some hundred bytes per cell,
// never freed, plus the values that the run has planned. A function that takes
// a value by copy does not compile, unless the value is a scalar or the
// parameter is a template's. An exception that it throws is shown in its row.
// Thread-safety: register on the main thread, before the run. With Threads(n),
// n threads call the function at once, with the same values.

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
#include "footprint/memo/product/axis.h"
#include "footprint/memo/product/copied_parameter.h"
#include "footprint/memo/product/product_registry.h"

namespace footprint {

template <typename... Ts>
class ProductBenchmarks;

namespace memo_internal {

template <typename AnyCells>
struct ProductOfCells;
template <typename... Ts>
struct ProductOfCells<Cells<Ts...>> {
  using Type = ProductBenchmarks<Ts...>;
};

// The type that Product returns for these axes.
template <typename... Axes>
using ProductOf = typename ProductOfCells<JoinedCells<Axes...>>::Type;

}  // namespace memo_internal

// The registered cells. Copies refer to the same cells.
template <typename... Ts>
class ProductBenchmarks {
 public:
  // Sets a task that runs once for each benchmark instance, after its values
  // are loaded and before any timer. If it fails or throws, the row shows the
  // error instead of a time. A task takes the values; it may take a const
  // InstanceState& before them, to know which instance it runs for.
  template <typename Function>
  ProductBenchmarks& Setup(Function task) {
    const auto shared = Share(std::move(task));
    for (auto& [cell, values] : cells_) cell->setup = Bind(shared, values);
    return *this;
  }
  // Sets a task that runs once for each benchmark instance that was set up,
  // while its values exist. Its error goes to standard error and to the exit
  // status. It may evict the values; see above.
  template <typename Function>
  ProductBenchmarks& Teardown(Function task) {
    const auto shared = Share(std::move(task));
    for (auto& [cell, values] : cells_) cell->teardown = Bind(shared, values);
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
  template <typename Function, typename... Axes>
  friend auto Product(std::string name, Function function, const Axes&... axes)
      -> absl::StatusOr<memo_internal::ProductOf<Axes...>>;

  using Values = std::tuple<memo_internal::BoundArgument<Ts>...>;
  // benchmark::internal::Benchmark, which newer releases have in another
  // namespace.
  using Benchmark = std::remove_pointer_t<decltype(benchmark::RegisterBenchmark(
      "", std::declval<void (*)(benchmark::State&)>()))>;

  template <typename Function>
  static std::shared_ptr<Function> ShareFunction(Function function) {
    static_assert(
        std::is_invocable_v<Function&, benchmark::State&, const Ts&...>,
        "the function takes a benchmark::State& and, of each axis in turn, a "
        "const reference to its value");
    static_assert(
        !memo_internal::TakesACopy<Function, benchmark::State, Ts...>(),
        "this function copies a value at each call; take it by const "
        "reference");
    return std::make_shared<Function>(std::move(function));
  }

  // Makes any task copyable, whatever it captures.
  template <typename Function>
  static std::shared_ptr<Function> Share(Function task) {
    static_assert(
        std::is_invocable_r_v<absl::Status, Function&, const Ts&...> ||
            std::is_invocable_r_v<absl::Status, Function&, const InstanceState&,
                                  const Ts&...>,
        "a task takes, after a const InstanceState& if it wants one, of each "
        "axis in turn a const reference to its value, and returns an "
        "absl::Status");
    static_assert(
        !memo_internal::TakesACopy<Function, Ts...>() &&
            !memo_internal::TakesACopy<Function, InstanceState, Ts...>(),
        "this task copies a value at each call; take it by const reference");
    return std::make_shared<Function>(std::move(task));
  }

  template <typename Function>
  static memo_internal::ProductCell::Task Bind(
      const std::shared_ptr<Function>& task, const Values& values) {
    return [task, values](const InstanceState& state) -> absl::Status {
      return std::apply(
          [&](const auto&... bound) -> absl::Status {
            if constexpr (std::is_invocable_v<Function&, const Ts&...>) {
              return (*task)(bound.value()...);
            } else {
              return (*task)(state, bound.value()...);
            }
          },
          values);
    };
  }

  template <typename Function>
  void Register(const std::string& product, const std::string& name,
                const std::shared_ptr<Function>& function,
                const Values& values) {
    auto made = std::make_unique<memo_internal::ProductCell>();
    made->name = name;
    made->product = product;
    const auto add = [&](memo_internal::PlannedMemo* memo) {
      if (memo != nullptr) made->memos.push_back(memo);
    };
    std::apply([&](const auto&... bound) { (add(bound.memo()), ...); }, values);
    made->run = [function, values](benchmark::State& state) {
      std::apply(
          [&](const auto&... bound) { (*function)(state, bound.value()...); },
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

// Returns a suffix such as "/model:small/data:day".
template <typename... Ts>
std::string CellSuffix(const Cells<Ts...>& cells,
                       const typename Cells<Ts...>::Row& row) {
  std::string suffix;
  size_t next = 0;
  const auto add = [&](const auto& argument) {
    suffix += "/" + cells.names[next++] + ":" + argument.text();
  };
  std::apply([&](const auto&... argument) { (add(argument), ...); }, row);
  return suffix;
}

// Returns the errors of CheckAxis for all names of one axis, zip or list.
template <typename AnyAxis>
absl::Status CheckAxis(const std::string& product, const AnyAxis& axis) {
  const auto cells = MakeRows(axis);
  absl::Status status = cells.status();
  if (!status.ok()) return status;
  for (const std::string& name : cells->names) {
    status.Update(CheckAxis(product, name, cells->rows.size()));
  }
  return status;
}

}  // namespace memo_internal

// Registers a cell for every combination, in the order of nested loops; the
// last axis changes fastest. `axes` are Axis, ValueAxis, Cells or a result of
// Zip, each also as a StatusOr. Returns InvalidArgument for an empty name, for
// a name with a line break or a zero byte, for an axis without a name or
// entries, and for two cells of one name, and the status of an axis that could
// not be made. Nothing is registered then.
template <typename Function, typename... Axes>
auto Product(std::string name, Function function, const Axes&... axes)
    -> absl::StatusOr<memo_internal::ProductOf<Axes...>> {
  static_assert(sizeof...(Axes) > 0, "a product needs an axis");
  absl::Status status;
  (status.Update(memo_internal::CheckAxis(name, axes)), ...);
  if (!status.ok()) return status;
  const auto cells = memo_internal::Cross(axes...);
  if (!cells.ok()) return cells.status();
  auto& registry = memo_internal::ProductRegistry::Get();
  std::vector<std::string> names;
  for (const auto& row : cells->rows) {
    names.push_back(name + memo_internal::CellSuffix(*cells, row));
  }
  status = registry.CheckAreNew(names);
  if (!status.ok()) return status;
  memo_internal::ProductOf<Axes...> product;
  const auto shared = product.ShareFunction(std::move(function));
  for (size_t i = 0; i < names.size(); ++i) {
    product.Register(name, names[i], shared,
                     std::apply(
                         [&](const auto&... argument) {
                           return std::make_tuple(registry.Bind(argument)...);
                         },
                         cells->rows[i]));
  }
  return product;
}

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PRODUCT_H_
