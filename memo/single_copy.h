// Finds out whether this process has memo's code twice, for example once in the
// program and once in a shared library that was linked with its own copy. Each
// copy would have its own list of memos, and neither would know what the other
// has pinned.
//
//   if (const char* file = FindOtherCopyInUse()) Refuse(file);
//
// Each copy has an ELF note that leads to the copy's own flag, which tells
// whether the copy is in use. The search reads the notes of all loaded files,
// once. If the loader replaced a copy's functions by the program's, that copy
// is never in use and does no harm. Needs only the C library. Thread-safe.
// Memory: no heap memory.

#ifndef FOOTPRINT_MEMO_SINGLE_COPY_H_
#define FOOTPRINT_MEMO_SINGLE_COPY_H_

namespace footprint::memo_internal {

// Returns the file whose copy was in use before this one, "" for the program;
// or null if there is none, and then this copy is in use from now on. Every
// call returns what the first one found. The text belongs to the loader, which
// keeps it while the file is loaded.
const char* FindOtherCopyInUse();

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SINGLE_COPY_H_
