// A grid of outcomes for a page (page.h): who ended where, and how.
//
//   OutcomeGrid grid;
//   grid.title = "Tokens a second";
//   grid.columns = {"64 MiB", "32 MiB"};
//   grid.sections = {{"GPT-2", {{"lowmem", {{"2.1", "3 GB read", true},
//                                           {"1.9", "3 GB read", true}}}}}};
//   std::string html = DrawOutcomeGrid(grid);
//
// A page contains two drawings, for a wide screen and for a telephone, and its
// style shows one of them. The second text of a cell is drawn only on the wide
// one; both say it as a tooltip. Text is escaped; equal data give equal bytes.
// Pure functions, thread-safe; the result owns its text. Memory: the text.

#ifndef FOOTPRINT_BASE_PAGE_OUTCOME_GRID_H_
#define FOOTPRINT_BASE_PAGE_OUTCOME_GRID_H_

#include <string>
#include <vector>

namespace footprint {

struct OutcomeGrid {
  struct Cell {
    std::string text;         // at most some 9 letters
    std::string detail = {};  // at most some 14 letters
    // A good outcome has a colour; others are grey.
    bool is_good = false;
  };
  struct Row {
    std::string label;
    std::vector<Cell> cells;  // one for each column; fewer leave places empty
  };
  struct Section {
    std::string heading;
    std::vector<Row> rows;
  };

  std::string title;
  std::string description;
  std::vector<std::string> columns;
  std::vector<Section> sections;
};

// Returns the grid as HTML.
std::string DrawOutcomeGrid(const OutcomeGrid& grid);

// Returns a picture that stands alone: an SVG file with its own title.
std::string OutcomeGridSvg(const OutcomeGrid& grid);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_OUTCOME_GRID_H_
