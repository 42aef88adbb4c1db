#include "footprint/profiling/symbols/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

// Frees what C libraries return.
struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Text = std::unique_ptr<char, Free>;

// A function's debug information deeper than this is damaged.
constexpr int kMostDepth = 200;

// Addresses of the code of an entry: a unit, or a function that was not
// inlined.
struct CodeRange {
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  Dwarf_Die entry;
};

// Returns a name that is not mangled as it is. The demangler takes it for a
// type: a C function "f" would become "float".
std::string Demangled(const char* name) {
  if (name == nullptr) return "";
  if (!absl::StartsWith(name, "_Z")) return name;
  int status = 0;
  const Text text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 && text != nullptr ? text.get() : name;
}

std::string BuildId(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address;
  const int size = dwfl_module_build_id(module, &bytes, &address);
  std::string text;
  for (int i = 0; i < size; ++i) {
    absl::StrAppend(&text, absl::Hex(bytes[i], absl::kZeroPad2));
  }
  return text;
}

// Returns the linkage name of a function or an inlined one, if it has one.
std::string FunctionName(Dwarf_Die* function) {
  for (unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    if (dwarf_attr_integrate(function, attribute, &found) != nullptr) {
      return Demangled(dwarf_formstring(&found));
    }
  }
  const char* const name = dwarf_diename(function);
  return name == nullptr ? "" : name;
}

int Number(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, attribute, &found) == nullptr ||
      dwarf_formudata(&found, &value) != 0) {
    return 0;
  }
  return static_cast<int>(value);
}

// Returns the file in which an inlined function was called.
std::string CallFile(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0) return "";
  const int index = Number(inlined, DW_AT_call_file);
  const char* const path =
      dwarf_filesrc(files, static_cast<size_t>(index), nullptr, nullptr);
  return path == nullptr ? "" : path;
}

void AddRanges(Dwarf_Die* entry, std::vector<CodeRange>* ranges) {
  Dwarf_Addr base = 0;
  CodeRange range;
  range.entry = *entry;
  ptrdiff_t next = 0;
  while ((next = dwarf_ranges(entry, next, &base, &range.begin, &range.end)) >
         0) {
    ranges->push_back(range);
  }
}

void SortRanges(std::vector<CodeRange>* ranges) {
  std::sort(
      ranges->begin(), ranges->end(),
      [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
}

// Returns null if no range has the address.
Dwarf_Die* FindEntry(std::vector<CodeRange>* sorted, Dwarf_Addr address) {
  const auto after =
      std::upper_bound(sorted->begin(), sorted->end(), address,
                       [](Dwarf_Addr wanted, const CodeRange& each) {
                         return wanted < each.begin;
                       });
  if (after == sorted->begin() || address >= (after - 1)->end) return nullptr;
  return &(after - 1)->entry;
}

// Adds the functions of a unit. dwarf_getscopes would find none in a namespace,
// where clang has them.
void AddFunctions(Dwarf_Die* parent, int depth,
                  std::vector<CodeRange>* ranges) {
  Dwarf_Die child;
  if (depth == kMostDepth || dwarf_child(parent, &child) != 0) return;
  do {
    if (dwarf_tag(&child) == DW_TAG_subprogram) AddRanges(&child, ranges);
    AddFunctions(&child, depth + 1, ranges);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// Adds the inlined calls that hold the address, the innermost first.
void AddInlinedCalls(Dwarf_Die* parent, Dwarf_Addr address, int depth,
                     std::vector<Dwarf_Die>* calls) {
  Dwarf_Die child;
  if (depth == kMostDepth || dwarf_child(parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    if ((is_inlined || tag == DW_TAG_lexical_block) &&
        dwarf_haspc(&child, address) == 1) {
      AddInlinedCalls(&child, address, depth + 1, calls);
      if (is_inlined) calls->push_back(child);
      return;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

class Symbolizer::OpenObject {
 public:
  explicit OpenObject(const Object& object) {
    static const Dwfl_Callbacks kCallbacks = {
        dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
        dwfl_offline_section_address, nullptr};
    dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ == nullptr) return;
    // Reports the object at the addresses that its file states.
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_elf(dwfl_, object.path.c_str(), object.path.c_str(),
                              -1, /*base=*/0, /*add_p_vaddr=*/true);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    if (module_ == nullptr) return;
    if (!object.build_id.empty() && BuildId(module_) != object.build_id) {
      information_ = Information::kOtherBuild;
      module_ = nullptr;
      return;
    }
    Dwarf_Addr bias = 0;
    information_ = dwfl_module_getdwarf(module_, &bias) != nullptr
                       ? Information::kLines
                       : Information::kSymbols;
  }
  ~OpenObject() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }
  OpenObject(const OpenObject&) = delete;
  OpenObject& operator=(const OpenObject&) = delete;

  Information information() const { return information_; }

  absl::Span<const SourceFrame> Find(uint64_t address) {
    const auto found = frames_.find(address);
    if (found != frames_.end()) return found->second;
    return frames_[address] = Look(address);
  }

 private:
  std::vector<SourceFrame> Look(uint64_t address) {
    if (module_ == nullptr) return {};
    std::vector<SourceFrame> frames = FramesByLines(address);
    if (!frames.empty()) return frames;
    const char* const name = dwfl_module_addrname(module_, address);
    if (name == nullptr) return {};
    frames.emplace_back();
    frames.back().function = Demangled(name);
    return frames;
  }

  // Returns inlined functions first, then the function that contains them.
  std::vector<SourceFrame> FramesByLines(uint64_t address) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = FindUnit(address, &bias);
    if (unit == nullptr) return {};
    Dwarf_Die* const function = FindFunction(unit, address - bias);
    if (function == nullptr) return {};
    std::vector<Dwarf_Die> calls;
    AddInlinedCalls(function, address - bias, /*depth=*/0, &calls);
    std::pair<std::string, int> place = FindPlace(unit, address - bias);
    std::vector<SourceFrame> frames;
    for (Dwarf_Die& call : calls) {
      frames.push_back({FunctionName(&call), place.first, place.second,
                        /*is_inlined=*/true});
      place = {CallFile(unit, &call), Number(&call, DW_AT_call_line)};
    }
    frames.push_back({FunctionName(function), place.first, place.second,
                      /*is_inlined=*/false});
    NameOutermost(address, &frames.back());
    return frames;
  }

  // Returns null if no unit has the address.
  Dwarf_Die* FindUnit(uint64_t address, Dwarf_Addr* bias) {
    Dwarf_Die* const listed = dwfl_module_addrdie(module_, address, bias);
    if (listed != nullptr) return listed;
    // libdw knows the units of .debug_aranges alone, which clang does not
    // write.
    if (units_.empty()) {
      Dwarf_Die* unit = nullptr;
      while ((unit = dwfl_module_nextcu(module_, unit, &units_bias_)) !=
             nullptr) {
        AddRanges(unit, &units_);
      }
      SortRanges(&units_);
    }
    *bias = units_bias_;
    return FindEntry(&units_, address - units_bias_);
  }

  // Returns null if no function of the unit has the address.
  Dwarf_Die* FindFunction(Dwarf_Die* unit, Dwarf_Addr address) {
    const auto [entry, is_new] = functions_.try_emplace(dwarf_dieoffset(unit));
    if (is_new) {
      AddFunctions(unit, /*depth=*/0, &entry->second);
      SortRanges(&entry->second);
    }
    return FindEntry(&entry->second, address);
  }

  // Uses the symbol's name if there is one, because debug information has a
  // static function without its namespace.
  void NameOutermost(uint64_t address, SourceFrame* frame) const {
    const char* const name = dwfl_module_addrname(module_, address);
    if (name != nullptr) frame->function = Demangled(name);
  }

  static std::pair<std::string, int> FindPlace(Dwarf_Die* unit,
                                               Dwarf_Addr address) {
    Dwarf_Line* const line = dwarf_getsrc_die(unit, address);
    if (line == nullptr) return {};
    int number = 0;
    dwarf_lineno(line, &number);
    const char* const path = dwarf_linesrc(line, nullptr, nullptr);
    return {path == nullptr ? "" : path, number};
  }

  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Information information_ = Information::kNone;
  std::map<uint64_t, std::vector<SourceFrame>> frames_;
  // All units, if libdw did not find the unit of some address, and the
  // functions of each unit in which an address was found. Both are sorted by
  // address.
  std::vector<CodeRange> units_;
  Dwarf_Addr units_bias_ = 0;
  std::map<Dwarf_Off, std::vector<CodeRange>> functions_;
};

Symbolizer::Symbolizer() = default;
Symbolizer::~Symbolizer() = default;

Symbolizer::OpenObject& Symbolizer::Open(const Object& object) {
  std::unique_ptr<OpenObject>& open = objects_[object];
  if (open == nullptr) open = std::make_unique<OpenObject>(object);
  return *open;
}

absl::Span<const SourceFrame> Symbolizer::Find(const Object& object,
                                               uint64_t address) {
  return Open(object).Find(address);
}

Symbolizer::Information Symbolizer::FindInformation(const Object& object) {
  return Open(object).information();
}

}  // namespace footprint
