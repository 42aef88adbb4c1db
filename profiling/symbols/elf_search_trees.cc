// Search trees that elfutils 0.191 and 0.192 call and that Debian 13's static
// libelf lacks: there they are objects of neither libelf.a nor libdw.a. Other
// versions bring their own, or call none; then these, which are weak, are of no
// account.

#include <pthread.h>
#include <search.h>

namespace {

// As elfutils declares it, whose lock comes behind the root.
struct SearchTree {
  void* root;
};
using Compare = int (*)(const void*, const void*);
using Free = void (*)(void*);

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

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
  const Locked locked;
  return tsearch(key, &tree->root, compare);
}

__attribute__((weak)) void* eu_tfind(const void* key, SearchTree* tree,
                                     Compare compare) {
  const Locked locked;
  return tfind(key, &tree->root, compare);
}

__attribute__((weak)) void* eu_tdelete(const void* key, SearchTree* tree,
                                       Compare compare) {
  const Locked locked;
  return tdelete(key, &tree->root, compare);
}

__attribute__((weak)) void eu_tdestroy(SearchTree* tree, Free free_node) {
  const Locked locked;
  tdestroy(tree->root, free_node);
}

}  // extern "C"
