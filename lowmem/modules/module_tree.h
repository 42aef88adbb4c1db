// Lists the modules of a tree by name, and finds those that options choose.
//
//   absl::StatusOr<std::vector<NamedModule>> modules = WalkModules(&model);
//   absl::StatusOr<std::vector<bool>> lazy =
//       ChooseModules(*modules, {"Linear"}, {}, {"encoder.layer.0"});
//
// The order is that of the tree: a module, then its children. Names are copies;
// modules stay with their owner and must outlive the list. Thread-safe. Memory:
// the names. Errors are those of lazy_loading.h.

#ifndef FOOTPRINT_LOWMEM_MODULES_MODULE_TREE_H_
#define FOOTPRINT_LOWMEM_MODULES_MODULE_TREE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/modules/module.h"

namespace footprint::lowmem_internal {

struct NamedModule {
  std::string name;  // "" for the root
  Module* module = nullptr;
};

// Joins "encoder" and "weight" to "encoder.weight".
std::string FullName(const std::string& parent, const std::string& name);

absl::StatusOr<std::vector<NamedModule>> WalkModules(Module* root);

// Returns for each module whether it is chosen by class or by name (if both are
// empty, every module is) and is not skipped.
absl::StatusOr<std::vector<bool>> ChooseModules(
    absl::Span<const NamedModule> modules,
    absl::Span<const std::string> target_classes,
    absl::Span<const std::string> target_modules,
    absl::Span<const std::string> skip_modules);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_MODULES_MODULE_TREE_H_
