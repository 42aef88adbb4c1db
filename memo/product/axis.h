// Axes: the lists that the arguments of a product's function go through.
//
//   MakeAxis<Model>("model", {"small.bin", "large.bin"}, ReadModel)
//   ValueAxis<int>{"batch", {1, 8}}
//
// Product takes every combination of axes. Zip goes through several axes
// together, and Cells lists the wanted combinations:
//
//   Zip(models, ValueAxis<int>{"batch", {1, 8}})  // small with 1, large with 8
//   Cells<Model, int>{{"model", "batch"}, {{small, 1}, {large, 8}, {large, 1}}}
//
// You may pass an axis that could not be made (a status) to a function; the
// function then returns the status.
//
// Ownership: an axis copies memos and values. Thread-compatible. Memory: an
// entry for each memo, value or row; MakeAxis loads nothing.

#ifndef FOOTPRINT_MEMO_PRODUCT_AXIS_H_
#define FOOTPRINT_MEMO_PRODUCT_AXIS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/memo/memo.h"

namespace footprint {

// The memos that one argument of the function goes through.
template <typename T>
struct Axis {
  std::string name;
  std::vector<Memo<T>> memos;
};

// Plain values: nothing is loaded or evicted for them. A value's text
// (operator<<) is part of the names of its cells.
template <typename T>
struct ValueAxis {
  std::string name;
  std::vector<T> values;
};

// Makes a memo for each path, named by the path: `load(path)` returns its value
// or an error. Each value is expected to take `declared_bytes`; 0 if that is
// unknown. Returns the errors of MakeMemo, such as AlreadyExists if a memo has
// the name. This happens if `paths` has a path twice, or if an earlier axis has
// the same file; use that axis again instead.
template <typename T, typename Load>
absl::StatusOr<Axis<T>> MakeAxis(std::string name,
                                 const std::vector<std::string>& paths,
                                 Load load, int64_t declared_bytes = 0) {
  static_assert(
      std::is_invocable_r_v<absl::StatusOr<T>, Load&, const std::string&>,
      "load takes a const std::string&, the path, and returns a T or an "
      "absl::StatusOr<T>");
  Axis<T> axis{std::move(name), {}};
  for (const std::string& path : paths) {
    MemoOptions options;
    options.declared_bytes = declared_bytes;
    options.source_path = path;
    absl::StatusOr<Memo<T>> memo = MakeMemo<T>(
        path,
        [load, path]() mutable -> absl::StatusOr<T> { return load(path); },
        std::move(options));
    if (!memo.ok()) return memo.status();
    axis.memos.push_back(*std::move(memo));
  }
  return axis;
}

// An argument in one cell: a memo's value or a plain value.
template <typename T>
class CellArgument {
 public:
  CellArgument(Memo<T> memo)  // NOLINT: rows are written in braces
      : text_(memo.name()), memo_(std::move(memo)) {}
  CellArgument(T value)  // NOLINT
      : value_(std::make_shared<const T>(std::move(value))) {
    std::ostringstream text;
    text << std::boolalpha;
    // Streams print eight-bit integers as characters.
    if constexpr (std::is_same_v<T, signed char> ||
                  std::is_same_v<T, unsigned char>) {
      text << +*value_;
    } else {
      text << *value_;
    }
    text_ = text.str();
  }

  // Returns the text that is part of the cell's name.
  const std::string& text() const { return text_; }
  // Returns nullopt for a plain value.
  const absl::optional<Memo<T>>& memo() const { return memo_; }
  // Returns null for a memo.
  const std::shared_ptr<const T>& value() const { return value_; }

 private:
  std::string text_;
  absl::optional<Memo<T>> memo_;
  std::shared_ptr<const T> value_;
};

// Rows of arguments, for cells that no combination of axes describes.
template <typename... Ts>
struct Cells {
  using Row = std::tuple<CellArgument<Ts>...>;

  std::array<std::string, sizeof...(Ts)> names;
  std::vector<Row> rows;
};

namespace memo_internal {

// Turns each kind of axis into rows.
template <typename... Ts>
absl::StatusOr<Cells<Ts...>> MakeRows(const Cells<Ts...>& cells) {
  return cells;
}

template <typename T>
absl::StatusOr<Cells<T>> MakeRows(const Axis<T>& axis) {
  Cells<T> cells{{axis.name}, {}};
  for (const Memo<T>& memo : axis.memos) {
    cells.rows.emplace_back(CellArgument<T>(memo));
  }
  return cells;
}

template <typename T>
absl::StatusOr<Cells<T>> MakeRows(const ValueAxis<T>& axis) {
  Cells<T> cells{{axis.name}, {}};
  for (const T& value : axis.values) {
    cells.rows.emplace_back(CellArgument<T>(value));
  }
  return cells;
}

template <typename AnyAxis>
auto MakeRows(const absl::StatusOr<AnyAxis>& axis)
    -> decltype(MakeRows(*axis)) {
  if (!axis.ok()) return axis.status();
  return MakeRows(*axis);
}

template <typename AnyAxis>
using CellsOf =
    std::decay_t<decltype(*MakeRows(std::declval<const AnyAxis&>()))>;

template <typename Row>
struct CellsOfRow;
template <typename... Ts>
struct CellsOfRow<std::tuple<CellArgument<Ts>...>> {
  using Type = Cells<Ts...>;
};

// The type of cells whose rows have the arguments of all these axes in turn.
template <typename... Axes>
using JoinedCells = typename CellsOfRow<decltype(std::tuple_cat(
    std::declval<typename CellsOf<Axes>::Row>()...))>::Type;

template <typename Joined, typename... Parts>
Joined JoinNamed(const Parts&... parts) {
  Joined joined;
  size_t next = 0;
  const auto add = [&](const auto& names) {
    for (const std::string& name : names) joined.names[next++] = name;
  };
  (add(parts.names), ...);
  return joined;
}

// Calls `visit` with every combination of rows; the last part changes fastest.
template <typename Visit, typename Row>
void ForEachCombination(const Visit& visit, const Row& row) {
  visit(row);
}
template <typename Visit, typename Row, typename Part, typename... Parts>
void ForEachCombination(const Visit& visit, const Row& row, const Part& part,
                        const Parts&... parts) {
  for (const auto& more : part.rows) {
    ForEachCombination(visit, std::tuple_cat(row, more), parts...);
  }
}

// Returns the first status that is not ok.
template <typename... Results>
absl::Status FirstError(const Results&... results) {
  absl::Status first;
  (first.Update(results.status()), ...);
  return first;
}

// Returns every combination of the axes' entries.
template <typename... Axes>
absl::StatusOr<JoinedCells<Axes...>> Cross(const Axes&... axes) {
  const auto cross =
      [](const auto&... parts) -> absl::StatusOr<JoinedCells<Axes...>> {
    const absl::Status status = FirstError(parts...);
    if (!status.ok()) return status;
    auto cells = JoinNamed<JoinedCells<Axes...>>(*parts...);
    ForEachCombination([&](const auto& row) { cells.rows.push_back(row); },
                       std::tuple<>(), *parts...);
    return cells;
  };
  return cross(MakeRows(axes)...);
}

// Returns InvalidArgument if axes to be zipped differ in their numbers of
// entries.
absl::Status CheckZip(const std::vector<std::string>& names,
                      const std::vector<size_t>& entry_counts);

}  // namespace memo_internal

// Goes through axes together: first the first entry of each, then the second of
// each. Returns InvalidArgument if their numbers of entries differ, and the
// status of an axis that could not be made.
template <typename... Axes>
absl::StatusOr<memo_internal::JoinedCells<Axes...>> Zip(const Axes&... axes) {
  using Joined = memo_internal::JoinedCells<Axes...>;
  const auto zip = [](const auto&... parts) -> absl::StatusOr<Joined> {
    absl::Status status = memo_internal::FirstError(parts...);
    if (!status.ok()) return status;
    status =
        memo_internal::CheckZip({parts->names[0]...}, {parts->rows.size()...});
    if (!status.ok()) return status;
    auto cells = memo_internal::JoinNamed<Joined>(*parts...);
    const size_t count = std::get<0>(std::tie(parts...))->rows.size();
    for (size_t i = 0; i < count; ++i) {
      cells.rows.push_back(std::tuple_cat(parts->rows[i]...));
    }
    return cells;
  };
  return zip(memo_internal::MakeRows(axes)...);
}

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_AXIS_H_
