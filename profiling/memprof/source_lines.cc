#include "footprint/profiling/memprof/source_lines.h"

#include <sys/stat.h>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/utf8.h"

namespace footprint {
namespace {

bool HasSuffixOfSource(absl::string_view path) {
  for (absl::string_view suffix :
       {".py",  ".pyx", ".pxd", ".c",   ".cc",  ".cpp",  ".cxx",
        ".C",   ".h",   ".hh",  ".hpp", ".hxx", ".inc",  ".ipp",
        ".cu",  ".cuh", ".m",   ".mm",  ".rs",  ".go",   ".f",
        ".f90", ".f95", ".d",   ".zig", ".nim", ".swift"}) {
    if (absl::EndsWith(path, suffix)) return true;
  }
  return false;
}

bool NamesPython(absl::string_view text) {
  const absl::string_view first = text.substr(0, text.find('\n'));
  return absl::StartsWith(first, "#!") && absl::StrContains(first, "python");
}

int64_t ChangeTimeNs(const struct stat& about) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  return about.st_mtim.tv_sec * kNsPerSecond + about.st_mtim.tv_nsec;
}

}  // namespace

SourceLines::SourceLines(int64_t run_begin_unix_time_ns)
    : run_begin_unix_time_ns_(run_begin_unix_time_ns) {}

SourceLines::Lines SourceLines::ReadFile(const std::string& path,
                                         bool is_python) const {
  const bool is_source = HasSuffixOfSource(path);
  if (!is_source && !is_python) return {};
  struct stat about;
  if (stat(path.c_str(), &about) != 0 ||
      ChangeTimeNs(about) > run_begin_unix_time_ns_) {
    return {};
  }
  const absl::StatusOr<std::string> text =
      ReadWholeFile(path, kMostSourceBytes);
  if (!text.ok() || absl::StrContains(*text, '\0') || !IsUtf8(*text) ||
      (!is_source && !NamesPython(*text))) {
    return {};
  }
  return absl::StrSplit(*text, '\n');
}

std::string SourceLines::Read(const CodeFrame& frame) {
  if (frame.line() <= 0 || frame.file().empty()) return "";
  auto found = files_.find(frame.file());
  if (found == files_.end()) {
    if (files_.size() >= kMostFiles) return "";
    found =
        files_
            .emplace(frame.file(),
                     ReadFile(frame.file(), frame.kind() == CodeFrame::PYTHON))
            .first;
  }
  const Lines& lines = found->second;
  const auto index = static_cast<size_t>(frame.line()) - 1;
  if (index >= lines.size()) return "";
  return std::string(absl::StripAsciiWhitespace(lines[index]));
}

}  // namespace footprint
