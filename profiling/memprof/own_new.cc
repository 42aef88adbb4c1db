// operator new and delete of a program's own, for tests of memprof.

#include <cstdlib>
#include <new>

void* operator new(std::size_t size) { return std::malloc(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
