#include "footprint/profiling/runs/this_machine.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "footprint/base/machine/machine_names.h"

namespace footprint {
namespace {

// Returns the highest level that programs which test for it find.
const char* SimdLevel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512f";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  if (__builtin_cpu_supports("avx")) return "avx";
  if (__builtin_cpu_supports("sse4.2")) return "sse4.2";
  return "sse2";
#else
  return "";
#endif
}

}  // namespace

MeasuredMachine ThisMachine() {
  MeasuredMachine machine;
  machine.set_kernel(KernelName());
  utsname name;
  if (uname(&name) == 0) machine.set_architecture(name.machine);
  machine.set_cpu_model(ProcessorModel());
  machine.set_page_size_bytes(sysconf(_SC_PAGESIZE));
  machine.set_memory_bytes(sysconf(_SC_PHYS_PAGES) * machine.page_size_bytes());
  machine.set_processor_count(
      static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  machine.set_c_library(absl::StrCat("glibc ", gnu_get_libc_version()));
  machine.set_simd_level(SimdLevel());
  return machine;
}

}  // namespace footprint
