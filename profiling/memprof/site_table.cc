#include "footprint/profiling/memprof/site_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

constexpr char kAgentFile[] = "/agent.so";

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool IsAllocator(absl::string_view function) {
  for (absl::string_view prefix : {"operator new",
                                   "std::",
                                   "__gnu_cxx::",
                                   "void std::",
                                   "void* std::",
                                   "malloc",
                                   "calloc",
                                   "realloc",
                                   "xmalloc",
                                   "xcalloc",
                                   "xrealloc",
                                   "strdup",
                                   "__strdup",
                                   "strndup",
                                   "_PyMem_",
                                   "PyMem_",
                                   "PyObject_Malloc",
                                   "PyObject_Calloc",
                                   "PyObject_Realloc",
                                   "_PyObject_Malloc",
                                   "_PyObject_Realloc",
                                   "g_malloc",
                                   "g_realloc"}) {
    if (absl::StartsWith(function, prefix)) return true;
  }
  return false;
}

// Where one stack leads to.
struct Place {
  std::string function;
  std::string file;
  int line = 0;
  std::string module;

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.function, a.file, a.line, a.module) <
           std::tie(b.function, b.file, b.line, b.module);
  }
};

class PlaceFinder {
 public:
  PlaceFinder(const SiteProfile& profile, Symbolizer* symbolizer)
      : profile_(profile), symbolizer_(*symbolizer) {}

  Place Find(const SiteProfile::Site& site) const {
    if (site.node == SiteProfile::kNone) {
      return {"[before the agent began]", "", 0, ""};
    }
    Place innermost;
    for (int i = site.node; i != SiteProfile::kNone;
         i = profile_.nodes[static_cast<size_t>(i)].parent) {
      const SiteProfile::Node& node = profile_.nodes[static_cast<size_t>(i)];
      if (IsAgent(node)) continue;
      const std::vector<Place> places = PlacesOf(node);
      if (innermost.function.empty()) innermost = places.front();
      for (const Place& place : places) {
        if (!IsAllocator(place.function)) return place;
      }
    }
    if (innermost.function.empty()) innermost.function = "[unknown]";
    return innermost;
  }

 private:
  bool IsAgent(const SiteProfile::Node& node) const {
    return node.module != SiteProfile::kNone &&
           absl::EndsWith(ModuleOf(node).path, kAgentFile);
  }

  const SiteProfile::Module& ModuleOf(const SiteProfile::Node& node) const {
    return profile_.modules[static_cast<size_t>(node.module)];
  }

  // Inlined functions first; at least one.
  std::vector<Place> PlacesOf(const SiteProfile::Node& node) const {
    if (node.module == SiteProfile::kNone) {
      return {{absl::StrCat("0x", absl::Hex(node.address)), "", 0, ""}};
    }
    const SiteProfile::Module& module = ModuleOf(node);
    std::vector<Place> places;
    for (const SourceFrame& frame :
         symbolizer_.Find({module.path, module.build_id}, node.address - 1)) {
      places.push_back({frame.function, frame.file, frame.line,
                        std::string(FileName(module.path))});
    }
    if (places.empty()) {
      places.push_back(
          {absl::StrCat(FileName(module.path), "+0x", absl::Hex(node.address)),
           "", 0, std::string(FileName(module.path))});
    }
    return places;
  }

  const SiteProfile& profile_;
  Symbolizer& symbolizer_;
};

void Add(const SiteProfile::Figure& figure, SiteProfile::Figure* sum) {
  sum->bytes += figure.bytes;
  sum->count += figure.count;
  sum->variance += figure.variance;
}

}  // namespace

std::vector<SiteRow> SiteRows(const SiteProfile& profile,
                              Symbolizer* symbolizer) {
  const PlaceFinder finder(profile, symbolizer);
  std::map<int, Place> places;
  std::map<Place, SiteRow> rows;
  for (const SiteProfile::Site& site : profile.sites) {
    auto place = places.find(site.node);
    if (place == places.end()) {
      place = places.emplace(site.node, finder.Find(site)).first;
    }
    SiteRow& row = rows[place->second];
    row.function = place->second.function;
    row.file = place->second.file;
    row.line = place->second.line;
    row.module = place->second.module;
    Add(site.at_peak, &row.at_peak);
    Add(site.at_end, &row.at_end);
    Add(site.allocated, &row.allocated);
    row.temporary_count += site.temporary_count;
  }
  std::vector<SiteRow> sorted;
  for (auto& [place, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SiteRow& a, const SiteRow& b) {
                     return a.at_peak.bytes > b.at_peak.bytes;
                   });
  return sorted;
}

}  // namespace footprint
