#include "footprint/profiling/recording/memory_environment.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "footprint/base/memory/allocator.h"

// Weak, so that the library also links without jemalloc and then reports none.
extern "C" {
extern __attribute__((weak)) const char* malloc_conf;
}

namespace footprint {
namespace {

// Returns the options from every place that jemalloc reads, in its order,
// except the file /etc/malloc.conf, whose link's name has options.
std::string AllocatorOptions() {
  std::string options;
  const auto append = [&options](const char* part) {
    if (part == nullptr || part[0] == '\0') return;
    if (!options.empty()) options += ',';
    options += part;
  };
  append(BuiltInAllocatorOptions());
  if (&malloc_conf != nullptr) append(malloc_conf);
  char link[256];
  const ssize_t length = readlink("/etc/malloc.conf", link, sizeof(link) - 1);
  if (length > 0) {
    link[length] = '\0';
    append(link);
  }
  append(std::getenv("MALLOC_CONF"));
  return options;
}

const char* SimdLevel() {
#if defined(__AVX512F__)
  return "avx512f";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__AVX__)
  return "avx";
#elif defined(__SSE4_2__)
  return "sse4.2";
#elif defined(__SSE2__)
  return "sse2";
#elif defined(__ARM_NEON)
  return "neon";
#else
  return "none";
#endif
}

const char* Architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

std::string Compiler() {
  const std::string version = __VERSION__;
#if defined(__clang__)
  return version;  // "Debian Clang 14.0.6"
#else
  return "gcc " + version;
#endif
}

std::string CppLibrary() {
#if defined(_LIBCPP_VERSION)
  return "libc++ " + std::to_string(_LIBCPP_VERSION);
#else
  return "libstdc++ " + std::to_string(__GLIBCXX__);
#endif
}

}  // namespace

Environment CurrentEnvironment() {
  char allocator[128];
  WriteAllocatorName(allocator, sizeof(allocator));
  Environment environment;
  environment.set_allocator(allocator);
  environment.set_allocator_options(AllocatorOptions());
  environment.set_page_size_bytes(sysconf(_SC_PAGESIZE));
  environment.set_compiler(Compiler());
  environment.set_c_library(std::string("glibc ") + gnu_get_libc_version());
  environment.set_cpp_library(CppLibrary());
  environment.set_simd_level(SimdLevel());
  environment.set_architecture(Architecture());
  return environment;
}

}  // namespace footprint
