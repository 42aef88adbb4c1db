#include "footprint/profiling/runs/own_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_owner.h"

namespace footprint {
namespace {

// Returns whether a source file belongs to a library although its code lies in
// the program: templates, inlined functions and statically linked libraries.
// The user's files may lie anywhere else: below /usr/src in an image of a
// container, or at a relative path.
bool IsLibrarySource(absl::string_view file) {
  for (absl::string_view folder :
       {"/usr/include/", "/usr/lib/", "/usr/local/include/", "external/",
        // Sources of the C library's start code, as Debian compiled it.
        "../sysdeps/", "../csu/"}) {
    if (absl::StartsWith(file, folder)) return true;
  }
  return absl::StrContains(file, "/external/");
}

// Returns for each frame whether it is the program's own. In an object with
// debug information, code without a source is not its author's: it comes from
// the compiler or from a library without debug information.
std::vector<bool> FindOwnFrames(const MeasuredRun& run,
                                const MeasuredImage& image) {
  std::vector<bool> is_own;
  std::set<absl::string_view> modules_with_source;
  for (const CodeFrame& frame : run.frames()) {
    const bool is_programs = FindOwner(frame, image) == CodeOwner::kProgram &&
                             frame.function() != "_start";
    is_own.push_back(is_programs && !IsLibrarySource(frame.file()));
    if (is_own.back() && !frame.file().empty()) {
      modules_with_source.insert(frame.module());
    }
  }
  for (int i = 0; i < run.frames_size(); ++i) {
    const CodeFrame& frame = run.frames(i);
    if (frame.kind() != CodeFrame::PYTHON && frame.file().empty() &&
        modules_with_source.count(frame.module()) > 0) {
      is_own[static_cast<size_t>(i)] = false;
    }
  }
  return is_own;
}

// A call of the program's own code, and the call that it made next; 0 if there
// is none.
struct OwnCall {
  uint32_t own = 0;
  uint32_t called = 0;
};

// Returns whether a frame shows a reader what was called. The interpreter,
// malloc and the import machinery do not.
bool IsNameable(const CodeFrame& frame, const MeasuredImage& image) {
  if (absl::StartsWith(frame.file(), "<frozen importlib") ||
      absl::StartsWith(frame.module(), "<frozen importlib")) {
    return false;
  }
  const CodeOwner owner = FindOwner(frame, image);
  return owner == CodeOwner::kProgram || owner == CodeOwner::kLibraries;
}

// Returns for each call, numbered as in sites, the innermost own call around
// it, or itself. Callers have lower numbers than what they call.
std::vector<OwnCall> FindOwnCalls(const MeasuredRun& run,
                                  const std::vector<bool>& is_own,
                                  const std::vector<bool>& is_nameable) {
  std::vector<OwnCall> calls(static_cast<size_t>(run.calls_size()) + 1);
  for (size_t number = 1; number < calls.size(); ++number) {
    const Call& call = run.calls(static_cast<int>(number) - 1);
    const auto self = static_cast<uint32_t>(number);
    if (call.frame() >= is_own.size() || call.parent() >= number) continue;
    if (is_own[call.frame()]) {
      calls[number].own = self;
      continue;
    }
    calls[number] = calls[call.parent()];
    if (calls[number].called == 0 && is_nameable[call.frame()]) {
      calls[number].called = self;
    }
  }
  return calls;
}

constexpr uint32_t kNoFrame = UINT32_MAX;

struct GrowingLine {
  OwnLine line;
  // Bytes at the peak by the frame that was called.
  std::map<uint32_t, int64_t> called_bytes;
};

class OwnLines {
 public:
  OwnLines(const MeasuredRun& run, const MeasuredImage& image) : run_(run) {
    std::vector<bool> is_nameable;
    for (const CodeFrame& frame : run.frames()) {
      is_nameable.push_back(IsNameable(frame, image));
    }
    const std::vector<OwnCall> own =
        FindOwnCalls(run, FindOwnFrames(run, image), is_nameable);
    for (const SiteAmounts& site : image.sites()) {
      if (site.call() < own.size() && own[site.call()].own != 0) {
        Add(site, own[site.call()]);
      }
    }
  }

  std::vector<OwnLine> Take() {
    std::vector<OwnLine> lines;
    for (auto& [frame, growing] : by_frame_) {
      growing.line.frame = run_.frames(static_cast<int>(frame));
      SetMostCalled(&growing);
      lines.push_back(std::move(growing.line));
    }
    // Lines that are equal keep the order of their frames in the run.
    std::stable_sort(lines.begin(), lines.end(),
                     [](const OwnLine& a, const OwnLine& b) {
                       if (a.at_peak.bytes() != b.at_peak.bytes()) {
                         return a.at_peak.bytes() > b.at_peak.bytes();
                       }
                       if (a.frame.file() != b.frame.file()) {
                         return a.frame.file() < b.frame.file();
                       }
                       if (a.frame.line() != b.frame.line()) {
                         return a.frame.line() < b.frame.line();
                       }
                       return a.frame.function() < b.frame.function();
                     });
    return lines;
  }

 private:
  // Returns the frame of a call as an index, or kNoFrame if there is none.
  uint32_t FindFrame(uint32_t call) const {
    if (call == 0) return kNoFrame;
    const uint32_t frame = run_.calls(static_cast<int>(call) - 1).frame();
    return frame < static_cast<uint32_t>(run_.frames_size()) ? frame : kNoFrame;
  }

  void Add(const SiteAmounts& site, const OwnCall& call) {
    GrowingLine& growing = by_frame_[FindFrame(call.own)];
    AddTo(site.at_peak(), &growing.line.at_peak);
    AddTo(site.allocated(), &growing.line.allocated);
    int64_t& bytes = growing.called_bytes[FindFrame(call.called)];
    bytes = SaturatedSum(bytes, site.at_peak().bytes());
  }

  void SetMostCalled(GrowingLine* growing) const {
    std::pair<uint32_t, int64_t> most = {kNoFrame, -1};
    for (const auto& called : growing->called_bytes) {
      if (called.second > most.second) most = called;
    }
    if (most.first == kNoFrame) return;
    growing->line.called = run_.frames(static_cast<int>(most.first));
  }

  const MeasuredRun& run_;
  std::map<uint32_t, GrowingLine> by_frame_;
};

}  // namespace

std::vector<OwnLine> FindOwnLines(const MeasuredRun& run,
                                  const MeasuredImage& image) {
  return OwnLines(run, image).Take();
}

}  // namespace footprint
