// Parses arbitrary text as a grid and, in its second line, as a command with
// placeholders.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/profiling/scaling/grid.h"

namespace footprint {
namespace {

void ParseAnyGrid(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> lines =
      absl::StrSplit(text, absl::MaxSplits('\n', 1));
  const absl::StatusOr<Grid> grid = ParseGrid(lines.first);
  if (!grid.ok()) return RequireRefusal(grid.status());
  const std::vector<GridCell> cells = ListCells(*grid);
  Require(!cells.empty() && cells.size() <= kMaxGridCells,
          "a grid has cells, and not too many");
  const std::vector<std::string> words = absl::StrSplit(lines.second, ' ');
  const absl::StatusOr<CommandTemplate> command =
      CommandTemplate::Parse(words, *grid);
  if (!command.ok()) return RequireRefusal(command.status());
  for (const GridCell& cell : {cells.front(), cells.back()}) {
    Require(cell.size() == grid->variables.size(),
            "a cell has a value a variable");
    Require(command->For(cell).size() == words.size(),
            "a command keeps its words");
    (void)CellText(*grid, cell);
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyGrid)

}  // namespace footprint
