// A shared library with a copy of its own within it; for single_copy_test.

#include "footprint/memo/single_copy.h"

extern "C" const char* FindOtherCopyFromTheSecond() {
  return footprint::memo_internal::FindOtherCopyInUse();
}
