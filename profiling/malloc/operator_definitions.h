// Defines every form of operator new and operator delete with two functions of
// the including source.
//
//   void* NewBlock(size_t size, bool may_throw);
//   void* NewBlock(size_t size, std::align_val_t alignment, bool may_throw);
//   void DeleteBlock(void* block);
//   void DeleteBlock(void* block, size_t size);
//   void DeleteBlock(void* block, std::align_val_t alignment);
//   void DeleteBlock(void* block, size_t size, std::align_val_t alignment);
//   FOOTPRINT_DEFINE_OPERATORS(NewBlock, DeleteBlock)
//
// Write the macro at the end of the source, outside namespaces, and only once
// in a program: the language allows one replacement of these operators. Only a
// program or library that wants its own operator new needs it. NewBlock may
// return null only if `may_throw` is false. Threads, time and memory are those
// of the functions.

#ifndef FOOTPRINT_PROFILING_MALLOC_OPERATOR_DEFINITIONS_H_
#define FOOTPRINT_PROFILING_MALLOC_OPERATOR_DEFINITIONS_H_

#include <stddef.h>

#include <new>

// `brackets` is empty, or [] for the array forms.
#define FOOTPRINT_DEFINE_OPERATORS_OF(brackets, New, Delete)                   \
  void* operator new brackets(size_t size) { return New(size, true); }         \
  void* operator new brackets(size_t size, const std::nothrow_t&) noexcept {   \
    return New(size, false);                                                   \
  }                                                                            \
  void* operator new brackets(size_t size, std::align_val_t alignment) {       \
    return New(size, alignment, true);                                         \
  }                                                                            \
  void* operator new brackets(size_t size, std::align_val_t alignment,         \
                              const std::nothrow_t&) noexcept {                \
    return New(size, alignment, false);                                        \
  }                                                                            \
  void operator delete brackets(void* block) noexcept { Delete(block); }       \
  void operator delete brackets(void* block, const std::nothrow_t&) noexcept { \
    Delete(block);                                                             \
  }                                                                            \
  void operator delete brackets(void* block, size_t size) noexcept {           \
    Delete(block, size);                                                       \
  }                                                                            \
  void operator delete brackets(void* block,                                   \
                                std::align_val_t alignment) noexcept {         \
    Delete(block, alignment);                                                  \
  }                                                                            \
  void operator delete brackets(void* block, std::align_val_t alignment,       \
                                const std::nothrow_t&) noexcept {              \
    Delete(block, alignment);                                                  \
  }                                                                            \
  void operator delete brackets(void* block, size_t size,                      \
                                std::align_val_t alignment) noexcept {         \
    Delete(block, size, alignment);                                            \
  }

#define FOOTPRINT_DEFINE_OPERATORS(New, Delete) \
  FOOTPRINT_DEFINE_OPERATORS_OF(, New, Delete)  \
  FOOTPRINT_DEFINE_OPERATORS_OF([], New, Delete)

#endif  // FOOTPRINT_PROFILING_MALLOC_OPERATOR_DEFINITIONS_H_

// Tested by //profiling/regressions:heap_test.
