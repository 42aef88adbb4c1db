"""One source that holds all of its mutants, each behind a switch.

The environment variable FOOTPRINT_MUTANT says by number which of them a process
has; without it the program is as it was. So a package is compiled once for
hundreds of mutants, and a mutant costs no more than the tests that reach it.
FOOTPRINT_MUTANTS_REACHED names a file of a byte a mutant, which is set where a
process comes by it. A program that is started without that environment has no mutant
(`with_fault` plants one without a switch).
"""

MUTANT_VARIABLE = "FOOTPRINT_MUTANT"
REACHED_VARIABLE = "FOOTPRINT_MUTANTS_REACHED"

# Lines keep their numbers, so that messages lead to the original source.
PRELUDE = r"""#ifndef FOOTPRINT_MUTANT_SWITCH_
#define FOOTPRINT_MUTANT_SWITCH_
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
namespace footprint_mutant {
inline int active = -1;  // -1: not read yet
inline unsigned char* reached = nullptr;
inline int Start() {
  if (environ == nullptr) return 0;  // before the C library is ready
  const int error = errno;
  const char* const number = getenv("FOOTPRINT_MUTANT");
  const char* const path = getenv("FOOTPRINT_MUTANTS_REACHED");
  if (path != nullptr && reached == nullptr) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0) {
      // Not mmap(): a profiler's may be the source that this is planted in.
      const long bytes = syscall(SYS_mmap, nullptr, status.st_size,
                                 PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
      if (bytes != -1) reached = reinterpret_cast<unsigned char*>(bytes);
    }
    if (file >= 0) close(file);
  }
  const int found = number == nullptr ? 0 : atoi(number);
  errno = error;
  __atomic_store_n(&active, found, __ATOMIC_RELEASE);
  return found;
}
__attribute__((constructor)) static void StartEarly() {
  if (__atomic_load_n(&active, __ATOMIC_ACQUIRE) < 0) Start();
}
inline bool On(int number) {
  int now = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
  if (now < 0) now = Start();
  if (reached != nullptr) {
    __atomic_store_n(reached + number, 1, __ATOMIC_RELAXED);
  }
  return now == number;
}
constexpr bool OnAtRunTime(int number) {
  if (__builtin_is_constant_evaluated()) return false;
  return On(number);
}
}  // namespace footprint_mutant
#endif
"""


class _Node:
    """A part of the source, with the mutants of exactly this part."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.mutants, self.inner = [], []


def _tree(numbered, length):
    """Returns the mutants, nested by their places."""
    root = _Node(0, length)
    path = [root]
    # Statements enclose expressions of the same place.
    for number, mutant in sorted(
            numbered, key=lambda item: (item[1].start, -item[1].end, item[0])):
        while path[-1].end < mutant.end or path[-1].end <= mutant.start:
            path.pop()
        if path[-1] is root or (path[-1].start, path[-1].end) != (mutant.start, mutant.end):
            node = _Node(mutant.start, mutant.end)
            path[-1].inner.append(node)
            path.append(node)
        path[-1].mutants.append((number, mutant))
    return root


def _switched(number, mutant, code):
    switch = "::footprint_mutant::%s(%d)" % ("OnAtRunTime" if mutant.constant else "On", number)
    if mutant.form == "opposite":
        return "(%s != static_cast<bool>(%s))" % (switch, code)
    if mutant.form == "removed":
        return "{ if (!%s) %s }" % (switch, code)
    if mutant.form == "returned":
        return "{ if (%s) %s %s }" % (switch, mutant.new, code)
    return "(%s ? (%s) : (%s))" % (switch, mutant.new, code)


def _written(node, source):
    pieces, at = [], node.start
    for inner in node.inner:
        pieces += [source[at:inner.start].decode(), _written(inner, source)]
        at = inner.end
    code = "".join(pieces) + source[at:node.end].decode()
    for number, mutant in node.mutants:
        code = _switched(number, mutant, code)
    return code


def with_switches(text, numbered, is_header):
    """Returns `text` with its (number, mutant) pairs behind switches."""
    source = text.encode()
    # Warnings that switches cause are not errors. (Sources get -w.)
    quiet = "#pragma GCC system_header\n" if is_header else ""
    return "%s%s#line 1\n%s" % (quiet, PRELUDE, _written(_tree(numbered, len(source)), source))


def with_fault(text, mutant):
    """Returns `text` with one mutant that needs no switch."""
    source = text.encode()
    code = source[mutant.start:mutant.end].decode()
    faulty = {"opposite": "!(%s)" % code, "removed": "{}",
              "returned": "{ %s }" % mutant.new}.get(mutant.form, "(%s)" % mutant.new)
    return source[:mutant.start].decode() + faulty + source[mutant.end:].decode()
