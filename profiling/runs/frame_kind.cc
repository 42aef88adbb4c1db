#include "footprint/profiling/runs/frame_kind.h"

#include "absl/strings/match.h"

namespace footprint {
namespace {

constexpr absl::string_view kAllocatorPrefixes[] = {"operator new",
                                                    "std::",
                                                    "__gnu_cxx::",
                                                    "malloc",
                                                    "calloc",
                                                    "realloc",
                                                    "memalign",
                                                    "posix_memalign",
                                                    "aligned_alloc",
                                                    "__libc_malloc",
                                                    "xmalloc",
                                                    "xcalloc",
                                                    "xrealloc",
                                                    "strdup",
                                                    "__strdup",
                                                    "strndup",
                                                    "__strndup",
                                                    "_PyMem_",
                                                    "PyMem_",
                                                    "PyObject_Malloc",
                                                    "PyObject_Calloc",
                                                    "PyObject_Realloc",
                                                    "_PyObject_Malloc",
                                                    "_PyObject_Calloc",
                                                    "_PyObject_Realloc",
                                                    "g_malloc",
                                                    "g_realloc"};

// Removes the return type, with which a demangled template function begins. The
// type may be one of the standard library, although the function is not. The
// space in "operator new" belongs to the name.
absl::string_view WithoutReturnType(absl::string_view function) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == '(' && i != begin) break;
    if (c == ' ' && !absl::EndsWith(function.substr(0, i), "operator")) {
      begin = i + 1;
    }
  }
  return function.substr(begin);
}

bool IsAllocator(absl::string_view function) {
  for (absl::string_view prefix : kAllocatorPrefixes) {
    if (absl::StartsWith(function, prefix)) return true;
  }
  return false;
}

// Returns whether an object is the C library or the dynamic loader. Before
// glibc 2.34 threads were in a library of their own.
bool IsCLibrary(absl::string_view module) {
  const absl::string_view name = module.substr(module.rfind('/') + 1);
  for (absl::string_view prefix :
       {"libc.so", "libc-2.", "ld-linux", "ld-2.", "libpthread"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

}  // namespace

CodeFrame::Kind NativeFrameKind(absl::string_view function,
                                absl::string_view module) {
  if (IsAllocator(WithoutReturnType(function))) return CodeFrame::ALLOCATOR;
  return IsCLibrary(module) ? CodeFrame::C_LIBRARY : CodeFrame::NATIVE;
}

}  // namespace footprint
