// Reads the memory of an interpreter's objects, in the thread that uses them.
//
//   if (IsObjectOfType(address, code_type)) {
//     int32_t line = LoadAs<int32_t>(address + offset);
//   }
//
// Addresses that no object can have are refused; others must be readable, as an
// object's members are. Values are copied, and the interpreter owns the
// objects. Thread-safe; works inside malloc and in signal handlers, so it
// allocates nothing.

#ifndef FOOTPRINT_PROFILING_PYTHON_OBJECT_MEMORY_H_
#define FOOTPRINT_PROFILING_PYTHON_OBJECT_MEMORY_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/python/interpreter_layout.h"

namespace footprint::profiling_internal {

template <typename T>
T LoadAs(uintptr_t address) {
  T value;
  memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
  return value;
}

// Returns whether the address is aligned, and neither in the first page nor the
// kernel's.
inline bool MayBeObject(uintptr_t address) {
  return address % sizeof(void*) == 0 && address >= 4096 &&
         address < uintptr_t{1} << 47;
}

// Returns whether the address may be an object's and the type there is `type`.
// An address that MayBeObject accepts must be readable.
inline bool IsObjectOfType(uintptr_t address, uintptr_t type) {
  return MayBeObject(address) &&
         LoadAs<uintptr_t>(address + kObjectType) == type;
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_PYTHON_OBJECT_MEMORY_H_
