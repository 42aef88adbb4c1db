// Finds functions, files and lines for addresses, by an object's debug
// information or else by its symbol table.
//
//   Symbolizer symbolizer;
//   absl::Span<const SourceFrame> frames =
//       symbolizer.Find({"/usr/lib/libfoo.so", "ab12..."}, 0x1234);
//   // frames[0]: the innermost inlined function; the last: the function itself
//
// Addresses are the object's own, as its file has them: what the loader added
// is taken off. An object that is gone, or is another by its build id, gives no
// frame; so does an address without a symbol. Debug information is looked for
// in the object, beside it and below /usr/lib/debug, as gdb does; never on the
// network.
//
// Thread-compatible. Owns what it returns, until it is destroyed. Memory: of
// each object, what of its debug information was read. Time: the first address
// of an object takes milliseconds to a second; each later one some
// microseconds, the same again nothing. Source: elfutils' libdw.

#ifndef FOOTPRINT_PROFILING_SYMBOLS_SYMBOLIZER_H_
#define FOOTPRINT_PROFILING_SYMBOLS_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace footprint {

struct SourceFrame {
  std::string function;  // demangled
  std::string file;      // empty: not known
  int line = 0;
  // Its code stands in the frame after it.
  bool is_inlined = false;
};

class Symbolizer {
 public:
  // An object file, and which build of it: lower-case hexadecimal digits, empty
  // where it has none.
  struct Object {
    std::string path;
    std::string build_id;

    friend bool operator<(const Object& a, const Object& b) {
      return a.path != b.path ? a.path < b.path : a.build_id < b.build_id;
    }
  };

  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Finds the line of a return address, which is that of the call: one byte
  // before.
  absl::Span<const SourceFrame> Find(const Object& object, uint64_t address);

  // Whether the object was found, is the same build and has debug information.
  enum class Information { kNone, kOtherBuild, kSymbols, kLines };
  Information FindInformation(const Object& object);

 private:
  class OpenObject;

  OpenObject& Open(const Object& object);

  std::map<Object, std::unique_ptr<OpenObject>> objects_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SYMBOLS_SYMBOLIZER_H_
