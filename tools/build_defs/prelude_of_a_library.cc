#include "footprint/tools/build_defs/prelude_of_a_library.h"

namespace footprint {

bool BeginsWithLibraryPrelude() {
#ifdef FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_
  return true;
#else
  return false;
#endif
}

}  // namespace footprint
