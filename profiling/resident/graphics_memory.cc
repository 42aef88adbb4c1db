#include "footprint/profiling/resident/graphics_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

// The library's own names, types and numbers, from its guide.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr size_t kNameCapacity = 96;
// The driver's own data on a device changes by less than this.
constexpr int64_t kLeastRiseBytes = int64_t{1} << 20;

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

// Returns whether the process has a file open whose path is `beginning` and a
// digit.
bool HasOpen(int process_id, const std::string& beginning) {
  std::error_code error;
  std::filesystem::directory_iterator file(
      absl::StrCat("/proc/", process_id, "/fd"), error);
  for (; !error && file != std::filesystem::directory_iterator();
       file.increment(error)) {
    std::error_code gone;
    const std::string path = std::filesystem::read_symlink(*file, gone);
    absl::string_view rest = path;
    if (absl::ConsumePrefix(&rest, beginning) && !rest.empty() &&
        absl::ascii_isdigit(static_cast<unsigned char>(rest[0]))) {
      return true;
    }
  }
  return false;
}

template <typename Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

class GraphicsWatch::Library {
 public:
  static absl::StatusOr<std::unique_ptr<Library>> Load(
      const std::string& name) {
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("graphics memory is not measured: there is no ", name));
    }
    auto library = std::unique_ptr<Library>(new Library(handle));
    if (!library->FindFunctions()) {
      return absl::UnavailableError(absl::StrCat(
          "graphics memory is not measured: ", name, " is too old"));
    }
    if (library->init_() != kSuccess) {
      return absl::UnavailableError(
          "graphics memory is not measured: the driver does not answer");
    }
    library->is_initialised_ = true;
    library->FindDevices();
    if (library->devices_.empty()) {
      return absl::NotFoundError(
          "graphics memory is not measured: there is no device");
    }
    return library;
  }

  ~Library() {
    if (is_initialised_) shutdown_();
    dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  int device_count() const { return static_cast<int>(devices_.size()); }
  const std::string& device_name(int device) const {
    return devices_[static_cast<size_t>(device)].name;
  }

  // Returns the bytes that all processes use on a device.
  int64_t BytesInUse(int device) const {
    DeviceMemory memory = {};
    if (get_memory_ == nullptr ||
        get_memory_(devices_[static_cast<size_t>(device)].device, &memory) !=
            kSuccess) {
      return 0;
    }
    return static_cast<int64_t>(memory.used_bytes);
  }

  // Returns the used bytes by process. A process that computes and draws has
  // the higher figure.
  std::map<int, unsigned long long> UsedBytes(int device) const {
    std::map<int, unsigned long long> used_bytes;
    for (ListProcesses* list : {list_computing_, list_drawing_}) {
      if (list == nullptr) continue;
      for (const ProcessInfo& info : List(device, list)) {
        unsigned long long& bytes =
            used_bytes[static_cast<int>(info.process_id)];
        bytes = std::max(bytes, info.used_bytes);
      }
    }
    return used_bytes;
  }

  // Returns each process's time on the device's processors since the last call.
  std::map<int, int64_t> BusyNs(int device) {
    std::map<int, int64_t> busy_ns;
    if (utilization_ == nullptr) return busy_ns;
    DeviceState& state = devices_[static_cast<size_t>(device)];
    unsigned int count = 0;
    if (utilization_(state.device, nullptr, &count, state.seen_us) !=
            kInsufficientSize ||
        count == 0) {
      return busy_ns;
    }
    std::vector<UtilizationSample> samples(count);
    if (utilization_(state.device, samples.data(), &count, state.seen_us) !=
        kSuccess) {
      return busy_ns;
    }
    samples.resize(std::min<size_t>(count, samples.size()));
    for (const UtilizationSample& sample : samples) {
      // The first sample has no interval.
      if (state.seen_us != 0 && sample.time_us > state.seen_us) {
        busy_ns[static_cast<int>(sample.process_id)] +=
            static_cast<int64_t>(sample.time_us - state.seen_us) * 10 *
            sample.processor_percent;
      }
    }
    for (const UtilizationSample& sample : samples) {
      state.seen_us = std::max(state.seen_us, sample.time_us);
    }
    return busy_ns;
  }

 private:
  using ListProcesses = int(Device, unsigned int*, ProcessInfo*);
  struct DeviceState {
    Device device;
    std::string name;
    unsigned long long seen_us = 0;
  };

  explicit Library(void* handle) : handle_(handle) {}

  bool FindFunctions() {
    Find(handle_, "nvmlDeviceGetGraphicsRunningProcesses_v3", &list_drawing_);
    Find(handle_, "nvmlDeviceGetProcessUtilization", &utilization_);
    Find(handle_, "nvmlDeviceGetMemoryInfo", &get_memory_);
    return Find(handle_, "nvmlInit_v2", &init_) &&
           Find(handle_, "nvmlShutdown", &shutdown_) &&
           Find(handle_, "nvmlDeviceGetCount_v2", &get_count_) &&
           Find(handle_, "nvmlDeviceGetHandleByIndex_v2", &get_device_) &&
           Find(handle_, "nvmlDeviceGetName", &get_name_) &&
           Find(handle_, "nvmlDeviceGetComputeRunningProcesses_v3",
                &list_computing_);
  }

  void FindDevices() {
    unsigned int count = 0;
    if (get_count_(&count) != kSuccess) return;
    for (unsigned int i = 0; i < count; ++i) {
      DeviceState state = {};
      char name[kNameCapacity] = "";
      if (get_device_(i, &state.device) != kSuccess) continue;
      get_name_(state.device, name, sizeof(name));
      name[kNameCapacity - 1] = '\0';
      state.name = name;
      devices_.push_back(state);
    }
  }

  // There may be more processes at the second call than at the first.
  std::vector<ProcessInfo> List(int device, ListProcesses* list) const {
    std::vector<ProcessInfo> processes(16);
    for (int attempt = 0; attempt < 8; ++attempt) {
      auto count = static_cast<unsigned int>(processes.size());
      const int error = list(devices_[static_cast<size_t>(device)].device,
                             &count, processes.data());
      if (error == kSuccess) {
        processes.resize(std::min<size_t>(count, processes.size()));
        return processes;
      }
      if (error != kInsufficientSize) break;
      processes.resize(2 * std::max<size_t>(count, processes.size()));
    }
    return {};
  }

  void* handle_;
  bool is_initialised_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*get_count_)(unsigned int*) = nullptr;
  int (*get_device_)(unsigned int, Device*) = nullptr;
  int (*get_name_)(Device, char*, unsigned int) = nullptr;
  int (*get_memory_)(Device, DeviceMemory*) = nullptr;
  ListProcesses* list_computing_ = nullptr;
  ListProcesses* list_drawing_ = nullptr;
  int (*utilization_)(Device, UtilizationSample*, unsigned int*,
                      unsigned long long) = nullptr;
  std::vector<DeviceState> devices_;
};

GraphicsWatch::GraphicsWatch(std::unique_ptr<Library> library,
                             std::string device_files)
    : library_(std::move(library)), device_files_(std::move(device_files)) {
  for (int device = 0; device < library_->device_count(); ++device) {
    const int64_t bytes = library_->BytesInUse(device);
    device_uses_.push_back({bytes, bytes});
  }
}
GraphicsWatch::GraphicsWatch(GraphicsWatch&&) noexcept = default;
GraphicsWatch& GraphicsWatch::operator=(GraphicsWatch&&) noexcept = default;
GraphicsWatch::~GraphicsWatch() = default;

absl::StatusOr<GraphicsWatch> GraphicsWatch::Open(
    const std::string& library, const std::string& device_files) {
  absl::StatusOr<std::unique_ptr<Library>> loaded = Library::Load(library);
  if (!loaded.ok()) return loaded.status();
  return GraphicsWatch(*std::move(loaded), device_files);
}

void GraphicsWatch::Look(const std::set<int>& process_ids) {
  int unmatched_count = 0;
  for (int device = 0; device < library_->device_count(); ++device) {
    const auto use_of = [&](int process_id) -> GraphicsUse& {
      GraphicsUse& use = uses_[{process_id, device}];
      use.process_id = process_id;
      use.device = device;
      use.device_name = library_->device_name(device);
      return use;
    };
    for (const auto& [process_id, bytes] : library_->UsedBytes(device)) {
      if (process_ids.count(process_id) == 0) {
        ++unmatched_count;
        continue;
      }
      GraphicsUse& use = use_of(process_id);
      if (bytes == kNotAvailable || bytes == 0) continue;
      use.peak_bytes =
          std::max(use.peak_bytes.value_or(0), static_cast<int64_t>(bytes));
    }
    for (const auto& [process_id, busy_ns] : library_->BusyNs(device)) {
      if (process_ids.count(process_id) == 0) continue;
      use_of(process_id).busy_ns += busy_ns;
    }
  }
  unmatched_process_count_ =
      std::max(unmatched_process_count_, unmatched_count);
  for (int device = 0; device < library_->device_count(); ++device) {
    LookAtDevice(device);
  }
  if (device_was_open_) return;
  device_was_open_ =
      std::any_of(process_ids.begin(), process_ids.end(),
                  [&](int id) { return HasOpen(id, device_files_); });
}

void GraphicsWatch::LookAtDevice(int device) {
  int64_t& peak_bytes = device_uses_[static_cast<size_t>(device)].peak_bytes;
  peak_bytes = std::max(peak_bytes, library_->BytesInUse(device));
}

std::optional<GraphicsUse> GraphicsWatch::WholeUse(int device) const {
  if (!device_was_open_) return std::nullopt;
  for (const auto& [place, use] : uses_) {
    if (use.device == device && use.peak_bytes.has_value()) return std::nullopt;
  }
  const DeviceUse& whole = device_uses_[static_cast<size_t>(device)];
  const int64_t rise_bytes = whole.peak_bytes - whole.before_bytes;
  if (rise_bytes < kLeastRiseBytes) return std::nullopt;
  GraphicsUse use;
  use.device = device;
  use.device_name = library_->device_name(device);
  use.peak_bytes = rise_bytes;
  return use;
}

std::vector<GraphicsUse> GraphicsWatch::uses() const {
  std::vector<GraphicsUse> uses;
  for (const auto& [place, use] : uses_) uses.push_back(use);
  for (int device = 0; device < library_->device_count(); ++device) {
    const std::optional<GraphicsUse> whole = WholeUse(device);
    if (whole.has_value()) uses.push_back(*whole);
  }
  return uses;
}

}  // namespace footprint
