// Search trees that elfutils 0.191 and 0.192 call and that Debian 13's static
// libelf lacks: there they are objects of neither libelf.a nor libdw.a. Other
// versions bring their own, or call none; then these, which are weak, are of no
// account. They have no lock: a tree is part of one open file, and a Symbolizer
// is used by one thread at a time.

#include <search.h>

namespace {

// As elfutils declares it, whose lock comes behind the root.
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
