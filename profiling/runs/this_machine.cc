#include "footprint/profiling/runs/this_machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

std::string CpuModel() {
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

}  // namespace

MeasuredMachine ThisMachine() {
  MeasuredMachine machine;
  utsname name;
  if (uname(&name) == 0) {
    machine.set_kernel(
        absl::StrCat(name.sysname, " ", name.release, " ", name.machine));
  }
  machine.set_cpu_model(CpuModel());
  machine.set_page_size_bytes(sysconf(_SC_PAGESIZE));
  machine.set_memory_bytes(sysconf(_SC_PHYS_PAGES) * machine.page_size_bytes());
  machine.set_processor_count(
      static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  // The one behind the agent's entry points.
  machine.set_allocator("jemalloc");
  return machine;
}

}  // namespace footprint
