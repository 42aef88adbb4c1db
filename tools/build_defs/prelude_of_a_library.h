// Tells whether a library of Footprint was compiled after library_prelude.h.
//
//   EXPECT_TRUE(BeginsWithLibraryPrelude());
//
// The test of library_prelude.h uses it. Owns nothing; thread-safe; takes no
// memory.

#ifndef FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_
#define FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_

namespace footprint {

bool BeginsWithLibraryPrelude();

}  // namespace footprint

#endif  // FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_
