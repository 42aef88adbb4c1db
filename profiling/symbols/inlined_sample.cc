// A library for symbolizer_test that returns its own address from inside an
// inlined function.

#include <cstdint>

namespace footprint {
namespace {

__attribute__((always_inline)) inline uintptr_t AddressInInlined() {
  uintptr_t here;
  asm volatile("leaq 0(%%rip), %0" : "=r"(here));
  return here;
}

__attribute__((noinline)) uintptr_t AddressInFunction() {
  const uintptr_t here = AddressInInlined();
  asm volatile("" : : "r"(here));
  return here;
}

}  // namespace
}  // namespace footprint

extern "C" {

uintptr_t AddressInSample() { return footprint::AddressInFunction(); }

// A C function whose name would demangle as a type, to "float".
__attribute__((noinline)) uintptr_t f() {
  uintptr_t here;
  asm volatile("leaq 0(%%rip), %0" : "=r"(here));
  return here;
}

}  // extern "C"
