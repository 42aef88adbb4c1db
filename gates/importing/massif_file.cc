#include "footprint/gates/importing/massif_file.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

// Returns a site such as "0x10917A: load (table.cc:12)" without the address,
// which varies from run to run.
std::string ParseSite(absl::string_view text) {
  if (absl::StartsWith(text, "0x")) {
    const size_t end = text.find(": ");
    if (end != absl::string_view::npos) text = text.substr(end + 2);
  }
  return std::string(text);
}

class MassifParser {
 public:
  explicit MassifParser(absl::string_view text)
      : lines_(absl::StrSplit(text, '\n')) {}

  absl::StatusOr<ForeignFigures> Parse() {
    // A complete file ends with a newline.
    if (lines_.size() < 2 || !lines_.back().empty()) return CutShort();
    lines_.pop_back();
    absl::Status status = ParseHeader();
    while (status.ok() && !IsAtEnd()) status = ParseSnapshot();
    if (!status.ok()) return status;
    if (snapshot_count_ == 0) return CutShort();
    ForeignFigures figures;
    figures.tool = "massif";
    figures.counts =
        absl::StrCat(are_pages_ ? "mapped pages" : "requested bytes",
                     ", the highest of ", snapshot_count_, " snapshots");
    peak_.metric = are_pages_ ? PEAK_MAPPED_BYTES : PEAK_LIVE_REQUESTED_BYTES;
    peak_.sites = std::move(sites_);
    figures.peaks.push_back(std::move(peak_));
    return figures;
  }

 private:
  bool IsAtEnd() const { return next_ == lines_.size(); }

  static absl::Status CutShort() {
    return absl::DataLossError(
        "is cut short: valgrind was stopped while it wrote; run it again");
  }

  absl::Status Foreign(const char* wanted) const {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", next_, " is no massif file's: ", wanted,
                     " is expected there"));
  }

  // Reads the rest of a line that must begin with `key`.
  absl::Status Take(absl::string_view key, absl::string_view* value) {
    if (IsAtEnd()) return CutShort();
    *value = lines_[next_++];
    if (!absl::ConsumePrefix(value, key)) {
      return Foreign(std::string(key).c_str());
    }
    return absl::OkStatus();
  }

  absl::Status TakeCount(absl::string_view key, int64_t* count) {
    absl::string_view value;
    absl::Status status = Take(key, &value);
    if (!status.ok()) return status;
    if (!absl::SimpleAtoi(value, count) || *count < 0) {
      return Foreign("a number of bytes below 2^63");
    }
    return status;
  }

  absl::Status ParseHeader() {
    absl::string_view options;
    absl::string_view ignored;
    absl::Status status = Take("desc: ", &options);
    if (status.ok()) status = Take("cmd: ", &ignored);
    if (status.ok()) status = Take("time_unit: ", &ignored);
    are_pages_ = absl::StrContains(options, "--pages-as-heap=yes");
    return status;
  }

  absl::Status ParseSnapshot() {
    absl::string_view ignored;
    int64_t number = 0;
    int64_t bytes = 0;
    int64_t unused = 0;
    absl::Status status = Take("#-----------", &ignored);
    if (status.ok()) status = TakeCount("snapshot=", &number);
    if (status.ok() && number != snapshot_count_) {
      return Foreign("the next snapshot's number");
    }
    if (status.ok()) status = Take("#-----------", &ignored);
    if (status.ok()) status = Take("time=", &ignored);
    if (status.ok()) status = TakeCount("mem_heap_B=", &bytes);
    if (status.ok()) status = TakeCount("mem_heap_extra_B=", &unused);
    if (status.ok()) status = TakeCount("mem_stacks_B=", &unused);
    absl::string_view tree;
    if (status.ok()) status = Take("heap_tree=", &tree);
    if (!status.ok()) return status;
    ++snapshot_count_;
    if (bytes > peak_.bytes) peak_.bytes = bytes;
    if (tree == "empty") return status;
    if (tree != "detailed" && tree != "peak") {
      --next_;
      return Foreign("heap_tree=empty, detailed or peak");
    }
    std::vector<ForeignSite> sites;
    status = ParseTree(&sites);
    if (status.ok() && bytes >= bytes_of_sites_) {
      bytes_of_sites_ = bytes;
      sites_ = std::move(sites);
    }
    return status;
  }

  // Parses nodes in depth-first order, each with the number of its children.
  absl::Status ParseTree(std::vector<ForeignSite>* sites) {
    int64_t open_nodes = 1;
    while (open_nodes > 0) {
      if (IsAtEnd()) return CutShort();
      absl::string_view line = lines_[next_++];
      const size_t depth = line.find_first_not_of(' ');
      line = absl::StripLeadingAsciiWhitespace(line);
      const size_t colon = line.find(": ");
      int64_t children = 0;
      if (colon == absl::string_view::npos ||
          !absl::ConsumePrefix(&line, "n") ||
          !absl::SimpleAtoi(line.substr(0, colon - 1), &children) ||
          children < 0 || children > kMostNodes) {
        return Foreign("a node of the heap tree");
      }
      line = line.substr(colon + 1);
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(line, absl::MaxSplits(' ', 1));
      ForeignSite site;
      if (!absl::SimpleAtoi(parts.first, &site.live_bytes) ||
          site.live_bytes < 0) {
        return Foreign("a node's bytes");
      }
      if (depth == 1) {
        site.name = ParseSite(parts.second);
        sites->push_back(std::move(site));
      }
      open_nodes += children - 1;
      if (open_nodes > kMostNodes) return Foreign("a tree of fewer nodes");
    }
    return absl::OkStatus();
  }

  static constexpr int64_t kMostNodes = int64_t{1} << 32;

  std::vector<absl::string_view> lines_;
  size_t next_ = 0;
  bool are_pages_ = false;
  int64_t snapshot_count_ = 0;
  ForeignPeak peak_;
  std::vector<ForeignSite> sites_;
  int64_t bytes_of_sites_ = 0;
};

}  // namespace

bool LooksLikeMassif(absl::string_view text) {
  return absl::StartsWith(text, "desc: ");
}

absl::StatusOr<ForeignFigures> ParseMassifFile(absl::string_view text) {
  return MassifParser(text).Parse();
}

}  // namespace footprint
