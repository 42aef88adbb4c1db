// The cells over which a program is run: every combination of the values of its
// variables, and the command line of each cell.
//
//   absl::StatusOr<Grid> grid = ParseGrid("features=10,100 rows=1000,2000");
//   absl::StatusOr<CommandTemplate> command =
//       CommandTemplate::Parse({"train", "--rows={rows}", "{features}"},
//                              *grid);
//   for (const GridCell& cell : ListCells(*grid)) {
//     command->For(cell);  // {"train", "--rows=1000", "10"}
//   }
//
// A variable is written in the command as {name}. {{ and }} stand for braces,
// and a brace around anything but a name stays as it is. A misspelled name is
// an error that suggests a near one.
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
  // The values as they were written, in their order; at least one, without
  // duplicates.
  std::vector<std::string> values;
};

// The variables in the order in which they were named; at least one, without
// duplicates.
struct Grid {
  std::vector<GridVariable> variables;
};

// One value per variable, in the grid's order.
using GridCell = std::vector<std::string>;

// More cells would run for hours, even if a program takes only a second.
inline constexpr size_t kMaxGridCells = 10000;

// Parses "NAME=VALUE,VALUE NAME=VALUE": variables separated by blanks. A name
// has letters, digits and underscores and does not begin with a digit. Returns
// kInvalidArgument, with the place and what to write instead, if there is no
// variable, an invalid or repeated name, no values, an empty or repeated value,
// or more than kMaxGridCells cells.
absl::StatusOr<Grid> ParseGrid(absl::string_view text);

// Returns all cells; the last variable changes fastest.
std::vector<GridCell> ListCells(const Grid& grid);

// Returns text like "features=10 rows=1000".
std::string CellText(const Grid& grid, const GridCell& cell);

// A program's arguments with the grid's variables in them.
class CommandTemplate {
 public:
  // Returns kInvalidArgument for a placeholder without a variable, or a
  // variable without a placeholder.
  static absl::StatusOr<CommandTemplate> Parse(
      const std::vector<std::string>& arguments, const Grid& grid);

  // Returns the arguments for a cell of the grid that Parse got.
  std::vector<std::string> For(const GridCell& cell) const;

 private:
  // A text, and the index of the variable whose value follows it, or -1.
  using Part = std::pair<std::string, int>;

  std::vector<std::vector<Part>> arguments_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_GRID_H_
