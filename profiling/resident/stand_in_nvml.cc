// Replaces NVIDIA's management library, as far as graphics_memory.h uses it, on
// machines without one. There are two devices. The file that STAND_IN_NVML
// names lists their processes as lines "DEVICE PROCESS BYTES PERCENT", in which
// -1 bytes are not available. The file of STAND_IN_NVML_DRAWING lists processes
// that draw. A device's use is the sum of their bytes and STAND_IN_NVML_USED.
// STAND_IN_NVML_ERROR makes its start fail, and STAND_IN_NVML_LONG_NAMES gives
// names without an end.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct ProcessInfo {
  unsigned int process_id;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

struct DeviceMemory {
  unsigned long long total_bytes;
  unsigned long long free_bytes;
  unsigned long long used_bytes;
};

struct UtilizationSample {
  unsigned int process_id;
  unsigned long long time_us;
  unsigned int processor_percent;
  unsigned int memory_percent;
  unsigned int encoder_percent;
  unsigned int decoder_percent;
};

struct Line {
  long device;
  long process;
  long long bytes;
  long percent;
};

constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr unsigned int kDeviceCount = 2;

int devices[kDeviceCount];
int start_count = 0;
// A second passes between two lists of samples.
unsigned long long time_us[kDeviceCount];

std::vector<Line> Lines(void* device, const char* variable = "STAND_IN_NVML") {
  std::vector<Line> lines;
  const char* const path = std::getenv(variable);
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "r");
  if (file == nullptr) return lines;
  Line line;
  while (std::fscanf(file, "%ld %ld %lld %ld", &line.device, &line.process,
                     &line.bytes, &line.percent) == 4) {
    if (&devices[line.device] == device) lines.push_back(line);
  }
  std::fclose(file);
  return lines;
}

int List(const std::vector<Line>& lines, unsigned int* count,
         ProcessInfo* processes) {
  const unsigned int capacity = *count;
  *count = static_cast<unsigned int>(lines.size());
  if (capacity < lines.size()) return kInsufficientSize;
  for (size_t i = 0; i < lines.size(); ++i) {
    processes[i] = {static_cast<unsigned int>(lines[i].process),
                    static_cast<unsigned long long>(lines[i].bytes), 0, 0};
  }
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (std::getenv("STAND_IN_NVML_ERROR") != nullptr) return kUninitialized;
  ++start_count;
  return kSuccess;
}

int nvmlShutdown() {
  --start_count;
  return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = kDeviceCount;
  return start_count > 0 ? kSuccess : kUninitialized;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index >= kDeviceCount) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}

int nvmlDeviceGetName(void* device, char* name, unsigned int capacity) {
  std::snprintf(name, capacity, "Stand-in %d",
                static_cast<int>(static_cast<int*>(device) - devices));
  // Some libraries write no end if there is no room for it.
  if (std::getenv("STAND_IN_NVML_LONG_NAMES") != nullptr) {
    std::memset(name, 'n', capacity);
  }
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void* device, DeviceMemory* memory) {
  const char* const besides = std::getenv("STAND_IN_NVML_USED");
  *memory = {};
  if (besides != nullptr)
    memory->used_bytes = std::strtoull(besides, nullptr, 10);
  for (const Line& line : Lines(device)) {
    if (line.bytes > 0) {
      memory->used_bytes += static_cast<unsigned long long>(line.bytes);
    }
  }
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                            ProcessInfo* processes) {
  return List(Lines(device), count, processes);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned int* count,
                                             ProcessInfo* processes) {
  return List(Lines(device, "STAND_IN_NVML_DRAWING"), count, processes);
}

int nvmlDeviceGetProcessUtilization(void* device, UtilizationSample* samples,
                                    unsigned int* count,
                                    unsigned long long seen_us) {
  const std::vector<Line> lines = Lines(device);
  if (lines.empty()) return kNotFound;
  *count = static_cast<unsigned int>(lines.size());
  if (samples == nullptr) return kInsufficientSize;
  unsigned long long& now_us = time_us[static_cast<int*>(device) - devices];
  now_us = (seen_us == 0 ? 1'000'000 : seen_us) + 1'000'000;
  for (size_t i = 0; i < lines.size(); ++i) {
    samples[i] = {static_cast<unsigned int>(lines[i].process),
                  now_us,
                  static_cast<unsigned int>(lines[i].percent),
                  0,
                  0,
                  0};
  }
  return kSuccess;
}

}  // extern "C"
