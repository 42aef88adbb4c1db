// A shared library with its own copy of memo, for single_copy_test.

#include "footprint/memo/single_copy.h"

extern "C" const char* FindOtherCopyFromTheSecond() {
  return footprint::memo_internal::FindOtherCopyInUse();
}
