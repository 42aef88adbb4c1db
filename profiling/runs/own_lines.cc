#include "footprint/profiling/runs/own_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_owner.h"

namespace footprint {
namespace {

// How surely a frame is a line of the program's author.
enum class Ownness : uint8_t { kNone, kWithoutSource, kOwn };

// Returns whether a source file belongs to a library, though its code lies in
// the program: templates, inlined functions and libraries that are linked in.
bool IsLibrarySource(absl::string_view file) {
  return absl::StartsWith(file, "/usr/") || absl::StartsWith(file, "/build/") ||
         absl::StartsWith(file, "external/") ||
         absl::StrContains(file, "/external/") ||
         // The C library's, as Debian's debug information has it.
         absl::StartsWith(file, "./") || absl::StartsWith(file, "../");
}

Ownness FindOwnness(const CodeFrame& frame, const MeasuredImage& image) {
  if (FindOwner(frame, image) != CodeOwner::kProgram) return Ownness::kNone;
  if (frame.kind() == CodeFrame::PYTHON) return Ownness::kOwn;
  if (frame.file().empty()) return Ownness::kWithoutSource;
  return IsLibrarySource(frame.file()) ? Ownness::kNone : Ownness::kOwn;
}

// A call of the program's own, and the call that it made next; 0: none.
struct OwnCall {
  uint32_t own = 0;
  uint32_t called = 0;
};

// Returns whether a frame tells a reader what was called: neither the
// interpreter, nor malloc, nor the machinery of imports does.
bool IsNameable(const CodeFrame& frame, const MeasuredImage& image) {
  if (absl::StartsWith(frame.file(), "<frozen importlib") ||
      absl::StartsWith(frame.module(), "<frozen importlib")) {
    return false;
  }
  const CodeOwner owner = FindOwner(frame, image);
  return owner == CodeOwner::kProgram || owner == CodeOwner::kLibraries;
}

// Returns for each call, as sites name it, the innermost one around it, or
// itself, of at least that ownness. Callers stand before what they call.
std::vector<OwnCall> FindOwnCalls(const MeasuredRun& run,
                                  const std::vector<Ownness>& frames,
                                  const std::vector<bool>& is_nameable,
                                  Ownness least) {
  std::vector<OwnCall> calls(static_cast<size_t>(run.calls_size()) + 1);
  for (size_t number = 1; number < calls.size(); ++number) {
    const Call& call = run.calls(static_cast<int>(number) - 1);
    const auto self = static_cast<uint32_t>(number);
    if (call.frame() >= frames.size() || call.parent() >= number) continue;
    if (frames[call.frame()] >= least) {
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
      ownness_.push_back(FindOwnness(frame, image));
      is_nameable.push_back(IsNameable(frame, image));
    }
    const std::vector<OwnCall> own =
        FindOwnCalls(run, ownness_, is_nameable, Ownness::kOwn);
    const std::vector<OwnCall> any =
        FindOwnCalls(run, ownness_, is_nameable, Ownness::kWithoutSource);
    for (const SiteAmounts& site : image.sites()) {
      if (site.call() >= own.size()) continue;
      const OwnCall& call =
          own[site.call()].own != 0 ? own[site.call()] : any[site.call()];
      if (call.own != 0) Add(site, call);
    }
  }

  std::vector<OwnLine> Take() {
    std::vector<OwnLine> lines;
    for (auto& [frame, growing] : by_frame_) {
      SetMostCalled(&growing);
      lines.push_back(std::move(growing.line));
    }
    std::sort(lines.begin(), lines.end(),
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
    return frame < ownness_.size() ? frame : kNoFrame;
  }

  void Add(const SiteAmounts& site, const OwnCall& call) {
    const uint32_t frame = FindFrame(call.own);
    GrowingLine& growing = by_frame_[frame];
    growing.line.frame = run_.frames(static_cast<int>(frame));
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
  std::vector<Ownness> ownness_;  // of each frame
  absl::flat_hash_map<uint32_t, GrowingLine> by_frame_;
};

}  // namespace

std::vector<OwnLine> FindOwnLines(const MeasuredRun& run,
                                  const MeasuredImage& image) {
  return OwnLines(run, image).Take();
}

}  // namespace footprint
