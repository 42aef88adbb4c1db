#include "footprint/profiling/runs/code_owner.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the folder with the slash at its end, or "" if there is none.
absl::string_view FindFolder(absl::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

// Returns whether the file is in a folder into which Python's package managers
// install.
bool IsInPackages(absl::string_view path) {
  return absl::StrContains(path, "/site-packages/") ||
         absl::StrContains(path, "/dist-packages/") ||
         absl::StrContains(path, "/lib/python3");
}

// Returns whether the file is in a folder of the system's libraries. Folders
// that may have the user's programs do not count: /usr/src and /opt in images
// of containers, and /usr/local/bin.
bool IsInstalled(absl::string_view path) {
  for (absl::string_view folder :
       {"/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/",
        "/usr/lib64/", "/usr/libexec/", "/usr/share/", "/usr/bin/",
        "/usr/sbin/", "/usr/local/share/"}) {
    if (absl::StartsWith(path, folder)) return true;
  }
  // Libraries below /opt and /usr/local are installed. Python files there may
  // be the user's, so only those among packages count.
  const bool is_add_on =
      (absl::StartsWith(path, "/opt/") ||
       absl::StartsWith(path, "/usr/local/")) &&
      (absl::StrContains(path, "/lib/") || absl::StrContains(path, "/lib64/"));
  return (is_add_on && !absl::EndsWith(path, ".py")) || IsInPackages(path) ||
         absl::StartsWith(path, "<frozen ");
}

bool IsInterpreter(const MeasuredImage& image) {
  return !image.interpreter().empty() ||
         absl::StartsWith(FileName(image.executable()), "python");
}

// Returns whether with this option of Python the program is text or a module
// ("-c", "-Im"), or comes from standard input ("-").
bool NamesNoScript(absl::string_view option) {
  if (option == "-") return true;
  if (absl::StartsWith(option, "--")) return false;
  // The letters after W and X are the option's value.
  const size_t end = option.find_first_of("cmWX");
  return end != absl::string_view::npos &&
         (option[end] == 'c' || option[end] == 'm');
}

// Returns the script that Python's command line names, or "".
absl::string_view FindScript(const MeasuredImage& image) {
  for (int i = 1; i < image.command_line_size(); ++i) {
    const absl::string_view argument = image.command_line(i);
    if (!absl::StartsWith(argument, "-")) return argument;
    if (NamesNoScript(argument)) return "";
    const bool has_value = argument == "-W" || argument == "-X" ||
                           argument == "--check-hash-based-pycs";
    if (has_value) ++i;
  }
  return "";
}

// Returns whether a file is the program that the command line names, or lies in
// or below its folder and is not a package that was installed there.
bool IsProgramsOwn(absl::string_view path, const MeasuredImage& image) {
  const absl::string_view program = IsInterpreter(image)
                                        ? FindScript(image)
                                        : absl::string_view(image.executable());
  if (program.empty() || path.empty()) return false;
  if (path == program) return true;
  const absl::string_view folder = FindFolder(program);
  if (folder.size() < 2 || folder[0] != '/' ||
      !absl::StartsWith(path, folder)) {
    return false;
  }
  // The rest begins with the folder's last slash.
  if (IsInPackages(path.substr(folder.size() - 1))) return false;
  // A script among the standard library's modules does not make those its own.
  return !absl::EndsWith(folder, "-packages/") &&
         !absl::StartsWith(FileName(folder.substr(0, folder.size() - 1)),
                           "python3");
}

// Returns whether Python's code comes from a text, such as "<string>", although
// the program is a file. Then a library made the text.
bool IsMadeByLibrary(const CodeFrame& frame, const MeasuredImage& image) {
  return absl::StartsWith(frame.file(), "<") && !FindScript(image).empty();
}

bool IsExecutable(absl::string_view module, const MeasuredImage& image) {
  return !module.empty() && FileName(module) == FileName(image.executable());
}

// Returns whether the frame loads a library: a constructor in the dynamic
// loader, or an import of Python.
bool IsLoading(const CodeFrame& frame) {
  if (frame.kind() == CodeFrame::PYTHON) {
    return absl::StartsWith(frame.file(), "<frozen importlib") ||
           absl::StartsWith(frame.module(), "<frozen importlib");
  }
  for (absl::string_view name :
       {"call_init", "_dl_init", "dl_open_worker", "_dl_open", "dlopen",
        "__libc_csu_init", "PyImport_ImportModuleLevelObject"}) {
    if (frame.function() == name) return true;
  }
  return false;
}

// Says who requested a block, as its stack tells. kNone: no call on the stack
// decides it. kNobodyKnown: there is no stack.
enum class Asker : uint8_t { kNone, kProgram, kLoader, kNobodyKnown };

Asker FindAsker(const CodeFrame& frame, const MeasuredImage& image) {
  if (IsLoading(frame)) return Asker::kLoader;
  return FindOwner(frame, image) == CodeOwner::kProgram ? Asker::kProgram
                                                        : Asker::kNone;
}

// Returns the asker of each call: that of the innermost call on its stack whose
// frame has one.
std::vector<Asker> AskersOfCalls(const MeasuredRun& run,
                                 const MeasuredImage& image) {
  std::vector<Asker> of_frames;
  of_frames.reserve(static_cast<size_t>(run.frames_size()));
  for (const CodeFrame& frame : run.frames()) {
    of_frames.push_back(FindAsker(frame, image));
  }
  std::vector<Asker> askers = {Asker::kNobodyKnown};
  askers.reserve(static_cast<size_t>(run.calls_size()) + 1);
  for (const Call& call : run.calls()) {
    Asker asker = call.frame() < of_frames.size() ? of_frames[call.frame()]
                                                  : Asker::kNone;
    if (asker == Asker::kNone && call.parent() != 0 &&
        call.parent() < askers.size()) {
      asker = askers[call.parent()];
    }
    askers.push_back(asker);
  }
  return askers;
}

// Returns whether the innermost call of the interpreter or of a library is one
// of the interpreter.
bool IsInterpretersOwn(const MeasuredRun& run, const MeasuredImage& image,
                       uint32_t call) {
  while (call != 0 && call <= static_cast<uint32_t>(run.calls_size())) {
    const Call& each = run.calls(static_cast<int>(call) - 1);
    if (each.frame() < static_cast<uint32_t>(run.frames_size())) {
      const CodeOwner owner =
          FindOwner(run.frames(static_cast<int>(each.frame())), image);
      if (owner == CodeOwner::kInterpreter) return true;
      if (owner == CodeOwner::kLibraries) return false;
    }
    if (each.parent() >= call) break;
    call = each.parent();
  }
  return false;
}

bool HasFramesOfPython(const MeasuredRun& run) {
  for (const CodeFrame& frame : run.frames()) {
    if (frame.kind() == CodeFrame::PYTHON) return true;
  }
  return false;
}

}  // namespace

CodeOwner FindOwner(const CodeFrame& frame, const MeasuredImage& image) {
  switch (frame.kind()) {
    case CodeFrame::ALLOCATOR:
      return CodeOwner::kAllocation;
    case CodeFrame::INTERPRETER:
      return CodeOwner::kInterpreter;
    case CodeFrame::UNKNOWN:
      return CodeOwner::kUnknown;
    case CodeFrame::PYTHON:
      if (IsProgramsOwn(frame.file(), image) ||
          IsProgramsOwn(frame.module(), image)) {
        return CodeOwner::kProgram;
      }
      return IsInstalled(frame.file()) || IsInstalled(frame.module()) ||
                     IsMadeByLibrary(frame, image)
                 ? CodeOwner::kLibraries
                 : CodeOwner::kProgram;
    default:
      break;
  }
  if (frame.module().empty()) return CodeOwner::kUnknown;
  if (IsInterpreter(image) &&
      (IsExecutable(frame.module(), image) ||
       absl::StartsWith(FileName(frame.module()), "libpython"))) {
    return CodeOwner::kInterpreter;
  }
  if (IsExecutable(frame.module(), image) ||
      IsProgramsOwn(frame.module(), image)) {
    return CodeOwner::kProgram;
  }
  return IsInstalled(frame.module()) || !absl::StartsWith(frame.module(), "/")
             ? CodeOwner::kLibraries
             : CodeOwner::kProgram;
}

PeakShares ComputePeakShares(const MeasuredRun& run,
                             const MeasuredImage& image) {
  PeakShares shares;
  shares.are_known =
      image.has_sites() && (!IsInterpreter(image) || HasFramesOfPython(run));
  if (!shares.are_known) return shares;
  const std::vector<Asker> askers = AskersOfCalls(run, image);
  for (const SiteAmounts& site : image.sites()) {
    const int64_t bytes = site.at_peak().bytes();
    if (bytes == 0) continue;
    const Asker asker =
        site.call() < askers.size() ? askers[site.call()] : Asker::kNobodyKnown;
    if (asker == Asker::kProgram) {
      shares.program_bytes = SaturatedSum(shares.program_bytes, bytes);
    } else if (asker == Asker::kNobodyKnown) {
      shares.unknown_bytes = SaturatedSum(shares.unknown_bytes, bytes);
    } else if (asker == Asker::kNone &&
               IsInterpretersOwn(run, image, site.call())) {
      shares.interpreter_bytes = SaturatedSum(shares.interpreter_bytes, bytes);
    } else {
      shares.libraries_bytes = SaturatedSum(shares.libraries_bytes, bytes);
    }
  }
  return shares;
}

}  // namespace footprint
