#include "footprint/base/text/exec_strings.h"

#include <string>
#include <vector>

namespace footprint {

std::vector<char*> ExecStrings(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace footprint
