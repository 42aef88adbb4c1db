// The cells over which a program is run: every combination of the values of its
// free variables, and the command line of each.
//
//   absl::StatusOr<Grid> grid = ParseGrid("features=10,100 rows=1000,2000");
//   absl::StatusOr<CommandTemplate> command =
//       CommandTemplate::Parse({"train", "--rows={rows}", "{features}"},
//       *grid);
//   for (const GridCell& cell : ListCells(*grid)) {
//     command->For(cell);  // {"train", "--rows=1000", "10"}
//   }
//
// A variable stands in the command as {name}; {{ and }} are braces, and so is a
// brace with anything else than a name in it. Everything that is misspelt is an
// error that says which name was meant.
//
// Pure functions and values; thread-compatible. Memory: the texts.

#ifndef FOOTPRINT_PROFILING_SCALING_GRID_H_
#define FOOTPRINT_PROFILING_SCALING_GRID_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct GridVariable {
  std::string name;
  // The values as they were written, in their order; at least one, none twice.
  std::vector<std::string> values;
};

// The variables in the order in which they were named; at least one, none
// twice.
struct Grid {
  std::vector<GridVariable> variables;
};

// One value a variable, in the grid's order.
using GridCell = std::vector<std::string>;

// More would run for hours, even of a program that takes a second.
inline constexpr size_t kMaxGridCells = 10000;

// "NAME=VALUE,VALUE NAME=VALUE": variables with blanks between them. A name has
// letters, digits and underscores and begins with no digit. kInvalidArgument,
// with the place and the way out: no variable, a name that is none or stands
// twice, no values, an empty value or one that stands twice, more than
// kMaxGridCells cells.
absl::StatusOr<Grid> ParseGrid(absl::string_view text);

// The last variable changes first.
std::vector<GridCell> ListCells(const Grid& grid);

// "features=10 rows=1000".
std::string CellText(const Grid& grid, const GridCell& cell);

// A program's arguments with the grid's variables in them.
class CommandTemplate {
 public:
  // kInvalidArgument: a placeholder that no variable fills, or a variable that
  // no placeholder uses.
  static absl::StatusOr<CommandTemplate> Parse(
      const std::vector<std::string>& arguments, const Grid& grid);

  std::vector<std::string> For(const GridCell& cell) const;

 private:
  // A text, and the index of the variable whose value follows it; -1: none.
  using Part = std::pair<std::string, int>;

  std::vector<std::vector<Part>> arguments_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_GRID_H_
