#include "footprint/profiling/scaling/grid.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/near_names.h"

namespace footprint {
namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsName(absl::string_view text) {
  return !text.empty() &&
         !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

std::vector<std::string> ListAxisNames(const Grid& grid) {
  std::vector<std::string> names;
  for (const GridVariable& variable : grid.variables) {
    names.push_back(variable.name);
  }
  return names;
}

int IndexOf(const Grid& grid, absl::string_view name) {
  for (size_t i = 0; i < grid.variables.size(); ++i) {
    if (grid.variables[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

absl::Status Wrong(absl::string_view variable, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--grid: \"", variable, "\" ", reason,
      "; it is written as in --grid='features=10,100 rows=1000,2000'"));
}

// Returns whether the argument has an open brace before the name.
bool HasOpenBrace(absl::string_view argument, absl::string_view name) {
  const size_t brace = argument.rfind('{');
  if (brace == absl::string_view::npos) return false;
  if (brace > 0 && argument[brace - 1] == '{') return false;
  const absl::string_view rest = argument.substr(brace + 1);
  return absl::StartsWith(rest, name) && !absl::StrContains(rest, '}') &&
         (rest.size() == name.size() || !IsNameCharacter(rest[name.size()]));
}

// Returns the error for a variable that no argument uses.
absl::Status Unused(absl::string_view name,
                    const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (!HasOpenBrace(argument, name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--grid: the brace in ", argument,
                     " is not closed; write {", name, "}"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "nothing in the program's arguments uses the variable ", name,
      " of --grid; write {", name, "} where its value belongs"));
}

absl::StatusOr<GridVariable> ParseVariable(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) {
    return Wrong(text, "has no \"=\" and no values");
  }
  GridVariable variable;
  variable.name = std::string(text.substr(0, equals));
  if (!IsName(variable.name)) {
    return Wrong(text, variable.name.empty()
                           ? "has no name before \"=\""
                           : "needs a name of letters, digits and underscores");
  }
  const absl::string_view values = text.substr(equals + 1);
  if (values.empty()) return Wrong(text, "has no values after \"=\"");
  for (absl::string_view value : absl::StrSplit(values, ',')) {
    if (value.empty()) return Wrong(text, "has an empty value");
    if (std::count(variable.values.begin(), variable.values.end(), value) > 0) {
      return Wrong(text, absl::StrCat("has the value ", value, " twice"));
    }
    variable.values.emplace_back(value);
  }
  return variable;
}

}  // namespace

absl::StatusOr<Grid> ParseGrid(absl::string_view text) {
  Grid grid;
  size_t cell_count = 1;
  for (absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    absl::StatusOr<GridVariable> variable = ParseVariable(word);
    if (!variable.ok()) return variable.status();
    if (IndexOf(grid, variable->name) >= 0) {
      return Wrong(word, "names a variable that stands there already");
    }
    // Both factors are limited, so the product does not overflow.
    cell_count *= std::min(variable->values.size(), kMaxGridCells + 1);
    if (cell_count > kMaxGridCells) {
      return absl::InvalidArgumentError(
          absl::StrCat("--grid: there are more than ", kMaxGridCells,
                       " combinations of values; leave some values out"));
    }
    grid.variables.push_back(*std::move(variable));
  }
  if (grid.variables.empty()) {
    return absl::InvalidArgumentError(
        "--grid is empty: name the variables and their values, as in "
        "--grid='features=10,100 rows=1000,2000'");
  }
  return grid;
}

std::vector<GridCell> ListCells(const Grid& grid) {
  std::vector<GridCell> cells = {{}};
  for (const GridVariable& variable : grid.variables) {
    std::vector<GridCell> longer;
    for (const GridCell& cell : cells) {
      for (const std::string& value : variable.values) {
        longer.push_back(cell);
        longer.back().push_back(value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

std::string CellText(const Grid& grid, const GridCell& cell) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < cell.size(); ++i) {
    parts.push_back(absl::StrCat(grid.variables[i].name, "=", cell[i]));
  }
  return absl::StrJoin(parts, " ");
}

absl::StatusOr<CommandTemplate> CommandTemplate::Parse(
    const std::vector<std::string>& arguments, const Grid& grid) {
  CommandTemplate command;
  std::set<int> used;
  for (const std::string& argument : arguments) {
    std::vector<Part> parts = {{"", -1}};
    for (size_t i = 0; i < argument.size(); ++i) {
      const char c = argument[i];
      // A doubled brace stands for one brace.
      if ((c == '{' || c == '}') &&
          argument.substr(i, 2) == std::string(2, c)) {
        parts.back().first += c;
        ++i;
        continue;
      }
      // A name in braces stands for a variable; other braces are text.
      const size_t end = c == '{' ? argument.find('}', i) : std::string::npos;
      const std::string name =
          end == std::string::npos ? "" : argument.substr(i + 1, end - i - 1);
      if (!IsName(name)) {
        parts.back().first += c;
        continue;
      }
      const int variable = IndexOf(grid, name);
      if (variable < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("no variable of --grid fills {", name, "} in ",
                         argument, DidYouMean(name, ListAxisNames(grid)),
                         "; braces that are meant as such "
                         "are doubled: {{",
                         name, "}}"));
      }
      used.insert(variable);
      parts.back().second = variable;
      parts.emplace_back("", -1);
      i = end;
    }
    command.arguments_.push_back(std::move(parts));
  }
  // Each variable must be used.
  for (size_t i = 0; i < grid.variables.size(); ++i) {
    if (used.count(static_cast<int>(i)) > 0) continue;
    return Unused(grid.variables[i].name, arguments);
  }
  return command;
}

std::vector<std::string> CommandTemplate::For(const GridCell& cell) const {
  std::vector<std::string> arguments;
  for (const std::vector<Part>& parts : arguments_) {
    std::string argument;
    for (const auto& [text, variable] : parts) {
      argument += text;
      if (variable >= 0) argument += cell[static_cast<size_t>(variable)];
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace footprint
