// Tells whether a library of Footprint was compiled with library_prelude.h
// before it.
//
//   EXPECT_TRUE(BeginsWithLibraryPrelude());
//
// For its test. Owns nothing; any thread; takes no memory.

#ifndef FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_
#define FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_

namespace footprint {

bool BeginsWithLibraryPrelude();

}  // namespace footprint

#endif  // FOOTPRINT_TOOLS_BUILD_DEFS_PRELUDE_OF_A_LIBRARY_H_
