// Keeps the start of a program that links libhwy the same in every process.
//
// Debian's libhwy measures how fine the processor's clock is in a static
// initialiser, for benchmarks of its own that nothing here calls. It sorts the
// readings in vectors that grow with the number of different ones, so before
// main each process allocated another volume (142,576 to 193,776 bytes in six
// processes, in 1,300 to 1,414 blocks) and took 12 ms more. The library calls
// the function by its name, so that this definition, in the program itself,
// takes its place. Weak: a Highway that is linked statically keeps its own,
// which nothing then calls before main.

#include <cstdint>

namespace hwy {
namespace platform {

__attribute__((weak)) uint64_t TimerResolution();

uint64_t TimerResolution() { return 1; }

}  // namespace platform
}  // namespace hwy
