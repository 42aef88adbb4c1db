// Finds out whether this process has memo's code twice: once in the program,
// say, and once within a shared library that was linked with a copy of its own.
// Each copy would have its own list of memos, and neither would see what the
// other has pinned.
//
//   if (const char* file = FindOtherCopyInUse()) Refuse(file);
//
// Each copy has an ELF note that leads to a flag of its own, which tells that
// the copy is in use. Notes of all loaded files are looked at, once. A copy
// whose functions the loader replaced by the program's is never in use, and
// does no harm. Needs no more than the C library. Thread-safe. Memory: none.

#ifndef FOOTPRINT_MEMO_SINGLE_COPY_H_
#define FOOTPRINT_MEMO_SINGLE_COPY_H_

namespace footprint::memo_internal {

// The file whose copy was in use before this one, "" for the program; null if
// there is none, and this copy is in use from now on. Every call returns what
// the first one found.
const char* FindOtherCopyInUse();

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SINGLE_COPY_H_
