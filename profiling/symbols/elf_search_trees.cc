// Search trees that elfutils 0.191 and 0.192 call and that Debian 13's static
// libelf lacks: there they are neither in libelf.a nor in libdw.a. Other
// versions have their own, or call none; then these weak definitions are
// unused. They have no lock, because a tree belongs to one open file and only
// one thread at a time uses a Symbolizer.

#include <search.h>

namespace {

// Declared like elfutils', whose lock follows the root.
struct SearchTree {
  void* root;
};
using Compare = int (*)(const void*, const void*);
using Free = void (*)(void*);

}  // namespace

extern "C" {

__attribute__((weak)) void eu_search_tree_init(SearchTree* tree) {
  tree->root = nullptr;
}

__attribute__((weak)) void eu_search_tree_fini(SearchTree* tree,
                                               Free free_node) {
  tdestroy(tree->root, free_node);
  tree->root = nullptr;
}

__attribute__((weak)) void* eu_tsearch(const void* key, SearchTree* tree,
                                       Compare compare) {
  return tsearch(key, &tree->root, compare);
}

__attribute__((weak)) void* eu_tfind(const void* key, SearchTree* tree,
                                     Compare compare) {
  return tfind(key, &tree->root, compare);
}

__attribute__((weak)) void* eu_tdelete(const void* key, SearchTree* tree,
                                       Compare compare) {
  return tdelete(key, &tree->root, compare);
}

__attribute__((weak)) void eu_tdestroy(SearchTree* tree, Free free_node) {
  tdestroy(tree->root, free_node);
}

}  // extern "C"
