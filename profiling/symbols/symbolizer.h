// Finds functions, files and lines for addresses, in an object's debug
// information or else in its symbol table.
//
//   Symbolizer symbolizer;
//   absl::Span<const SourceFrame> frames =
//       symbolizer.Find({"/usr/lib/libfoo.so", "ab12..."}, 0x1234);
//   // frames[0]: the innermost inlined function; the last: the function itself
//
// Addresses are those of the object's file, without what the loader added. An
// object that does not exist, or has another build ID, gives no frame; nor does
// an address without a symbol. Debug information is searched in the object,
// beside it and below /usr/lib/debug, as gdb does, and never on the network.
//
// Thread-compatible. Owns its results until it is destroyed. Memory: the frames
// of each address, and for each object the debug information that was read and
// 48 bytes for each function of the compilation units in which an address was
// found. Time: the first address of an object takes milliseconds to a second,
// each later one some microseconds, and a repeated one nothing. Entries nested
// more than 200 deep are left out. Source: elfutils' libdw.

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
  std::string file;      // Empty if it is unknown.
  int line = 0;
  // True if the code was inlined into the next frame's function.
  bool is_inlined = false;
};

class Symbolizer {
 public:
  // An object file and its build ID: lower-case hexadecimal digits. If it is
  // empty, any build of the file is accepted.
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

  // Finds the frames of the code at an address. For a return address, pass the
  // address one byte before it, which belongs to the call.
  absl::Span<const SourceFrame> Find(const Object& object, uint64_t address);

  // Says whether an object was found, is the same build, and has lines. An
  // object of kSymbols has no lines, and perhaps no symbols either.
  enum class Information { kNone, kOtherBuild, kSymbols, kLines };
  // Returns how much is known of the object.
  Information FindInformation(const Object& object);

 private:
  class OpenObject;

  OpenObject& Open(const Object& object);

  std::map<Object, std::unique_ptr<OpenObject>> objects_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SYMBOLS_SYMBOLIZER_H_
