#include "footprint/base/machine/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {
namespace {

constexpr char kNamePrefix[] = "footprint-";
constexpr int kRemovalTries = 200;
constexpr int kRemovalPauseUs = 500;

struct Mount {
  std::string root;  // of the hierarchy, in what is mounted
  std::string folder;
};

// Reads a line of /proc/PID/mountinfo: 3 numbers, root, folder, options, any
// number of fields up to "-", type, source, options of the file system. Returns
// false if it is not a mount of the wanted hierarchy.
bool ReadMount(absl::string_view line, absl::string_view controller,
               Mount* mount) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 5 || words.end() - dash < 4) return false;
  const bool is_wanted =
      controller.empty()
          ? dash[1] == "cgroup2"
          : dash[1] == "cgroup" && HasWord(dash[3], ',', controller);
  if (is_wanted) *mount = {std::string(words[3]), std::string(words[4])};
  return is_wanted;
}

// Reads the path of "9:memory:/a/b" or "0::/a/b". Returns false if the line has
// another form.
bool ReadGroup(absl::string_view line, absl::string_view controller,
               std::string* path) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (words.size() != 3) return false;
  const bool is_wanted = controller.empty()
                             ? words[0] == "0" && words[1].empty()
                             : HasWord(words[1], ',', controller);
  if (is_wanted) *path = std::string(words[2]);
  return is_wanted;
}

}  // namespace

std::string FindControlGroup(absl::string_view controller,
                             absl::string_view mounts,
                             absl::string_view groups) {
  for (absl::string_view line : absl::StrSplit(mounts, '\n')) {
    Mount mount;
    if (!ReadMount(line, controller, &mount)) continue;
    for (absl::string_view group : absl::StrSplit(groups, '\n')) {
      std::string path;
      if (!ReadGroup(group, controller, &path)) continue;
      // If only a part of the hierarchy is mounted, the group may lie outside
      // it.
      absl::string_view below = path;
      if (mount.root != "/" && !absl::ConsumePrefix(&below, mount.root)) {
        below = "";
      }
      return absl::StrCat(mount.folder, absl::StripSuffix(below, "/"));
    }
  }
  return "";
}

bool HasWord(absl::string_view text, char separator, absl::string_view word) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::StripSuffix(text, "\n"), separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool WriteControlFile(const std::string& path, absl::string_view text) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() && write(file.get(), text.data(), text.size()) ==
                               static_cast<ssize_t>(text.size());
}

std::string NewControlGroupPath(const std::string& folder) {
  static std::atomic<int64_t> count{0};
  return absl::StrCat(folder, "/", kNamePrefix, getpid(), "-", ++count);
}

void RemoveStaleControlGroups(const std::string& folder) {
  DIR* const listed = opendir(folder.c_str());
  if (listed == nullptr) return;
  while (const dirent* each = readdir(listed)) {
    absl::string_view rest = each->d_name;
    int process = 0;
    if (!absl::ConsumePrefix(&rest, kNamePrefix) ||
        !absl::SimpleAtoi(rest.substr(0, rest.find('-')), &process)) {
      continue;
    }
    if (kill(process, 0) == 0 || errno != ESRCH) continue;
    rmdir(absl::StrCat(folder, "/", each->d_name).c_str());
  }
  closedir(listed);
}

void RemoveControlGroup(const std::string& path) {
  for (int i = 0; i < kRemovalTries; ++i) {
    if (rmdir(path.c_str()) == 0 || errno != EBUSY) return;
    usleep(kRemovalPauseUs);
  }
}

}  // namespace footprint
