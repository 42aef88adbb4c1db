#include "footprint/base/machine/machine_names.h"

#include <sys/utsname.h>

#include <cstddef>
#include <fstream>

namespace footprint {

std::string KernelName() {
  utsname name;
  if (uname(&name) != 0) return "";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace footprint
