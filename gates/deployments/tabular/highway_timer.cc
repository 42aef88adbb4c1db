// Keeps the start of a program that links libhwy the same in every process.
//
// Debian's libhwy measures the resolution of the processor's clock in a static
// initialiser, for its own benchmarks, which nothing here calls. It sorts the
// readings in vectors that grow with the number of different readings. So
// before main the volume varied between processes (142,576 to 193,776 bytes in
// six processes, in 1,300 to 1,414 blocks), and each start took 12 ms more. The
// dynamic linker resolves the library's call to this definition in the program
// itself. The symbol is weak: a Highway that is linked statically keeps its own
// function, which nothing then calls before main.

#include <cstdint>

namespace hwy {
namespace platform {

__attribute__((weak)) uint64_t TimerResolution();

uint64_t TimerResolution() { return 1; }

}  // namespace platform
}  // namespace hwy
