#include "footprint/lowmem/modules/module_tree.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/near_names.h"

namespace footprint::lowmem_internal {
namespace {

absl::Status BadTree(absl::string_view parent, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "module \"", parent, "\": ", what, "; see AddChild in module.h"));
}

struct Seen {
  std::set<const Module*> modules;
  std::set<std::string> names;  // of modules and of parameters
};

absl::Status AddName(const std::string& parent, const std::string& name,
                     Seen* seen) {
  if (name.empty() || name.front() == '.' || name.back() == '.') {
    return BadTree(parent, absl::StrCat("\"", name, "\" is no name"));
  }
  if (!seen->names.insert(FullName(parent, name)).second) {
    return BadTree(parent,
                   absl::StrCat("two of its parts are named \"", name, "\""));
  }
  return absl::OkStatus();
}

absl::Status AddModules(const std::string& name, Module* module, Seen* seen,
                        std::vector<NamedModule>* modules) {
  if (module == nullptr) return BadTree(name, "is null");
  if (!seen->modules.insert(module).second) {
    return BadTree(name, "is twice in the tree: add it once, use it often");
  }
  modules->push_back({name, module});
  for (const Parameter& parameter : module->parameters()) {
    const absl::Status status = AddName(name, parameter.name(), seen);
    if (!status.ok()) return status;
  }
  for (const auto& [child_name, child] : module->children()) {
    absl::Status status = AddName(name, child_name, seen);
    if (status.ok()) {
      status = AddModules(FullName(name, child_name), child, seen, modules);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool IsBelow(absl::string_view name, absl::string_view top) {
  return top.empty() || name == top ||
         absl::StartsWith(name, absl::StrCat(top, "."));
}

// Sets `marked` to `value` for the modules that match. Fails if none matches or
// none of those has parameters.
template <class Matches>
absl::Status Mark(absl::Span<const NamedModule> modules, absl::string_view what,
                  absl::string_view wanted,
                  const std::vector<absl::string_view>& present,
                  const Matches& matches, bool value,
                  std::vector<bool>* marked) {
  bool is_there = false;
  bool has_parameters = false;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!matches(modules[i])) continue;
    is_there = true;
    has_parameters |= !modules[i].module->parameters().empty();
    (*marked)[i] = value;
  }
  if (!is_there) {
    return absl::NotFoundError(absl::StrCat("no ", what, " \"", wanted, "\" ",
                                            "in the model",
                                            NearNamesText(wanted, present)));
  }
  if (!has_parameters) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", what, " \"", wanted, "\" has no parameters to load"));
  }
  return absl::OkStatus();
}

absl::Status MarkNames(absl::Span<const NamedModule> modules,
                       absl::Span<const std::string> names, bool value,
                       std::vector<bool>* marked) {
  std::vector<absl::string_view> present;
  for (const NamedModule& module : modules) present.push_back(module.name);
  for (const std::string& name : names) {
    const absl::Status status = Mark(
        modules, "module", name, present,
        [&](const NamedModule& module) { return IsBelow(module.name, name); },
        value, marked);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MarkClasses(absl::Span<const NamedModule> modules,
                         absl::Span<const std::string> classes,
                         std::vector<bool>* marked) {
  std::set<absl::string_view> present;
  for (const NamedModule& module : modules) {
    present.insert(module.module->class_name());
  }
  for (const std::string& name : classes) {
    const absl::Status status = Mark(
        modules, "class", name, {present.begin(), present.end()},
        [&](const NamedModule& module) {
          return module.module->class_name() == name;
        },
        true, marked);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::string FullName(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : absl::StrCat(parent, ".", name);
}

absl::StatusOr<std::vector<NamedModule>> WalkModules(Module* root) {
  Seen seen;
  std::vector<NamedModule> modules;
  const absl::Status status = AddModules("", root, &seen, &modules);
  if (!status.ok()) return status;
  return modules;
}

absl::StatusOr<std::vector<bool>> ChooseModules(
    absl::Span<const NamedModule> modules,
    absl::Span<const std::string> target_classes,
    absl::Span<const std::string> target_modules,
    absl::Span<const std::string> skip_modules) {
  if (!target_classes.empty() && !target_modules.empty()) {
    return absl::InvalidArgumentError(
        "target_classes and target_modules are both given: choose by one");
  }
  const bool all = target_classes.empty() && target_modules.empty();
  std::vector<bool> chosen(modules.size(), all);
  absl::Status status = MarkClasses(modules, target_classes, &chosen);
  if (status.ok()) status = MarkNames(modules, target_modules, true, &chosen);
  if (status.ok()) status = MarkNames(modules, skip_modules, false, &chosen);
  if (!status.ok()) return status;
  return chosen;
}

}  // namespace footprint::lowmem_internal
