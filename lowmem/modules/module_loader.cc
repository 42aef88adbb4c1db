#include "footprint/lowmem/modules/module_loader.h"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/weights/float_reader.h"

namespace footprint::lowmem_internal {

LoadedModule::LoadedModule(ModuleLoader* loader, std::string name, bool is_kept,
                           std::vector<BoundParameter> parameters)
    : loader_(loader),
      name_(std::move(name)),
      is_kept_(is_kept),
      parameters_(std::move(parameters)) {
  for (BoundParameter& bound : parameters_) {
    if (bound.in_place != nullptr) continue;
    bound.offset_floats = floats_;
    // The next parameter begins at a cache line.
    floats_ += LineFloatBytes(bound.parameter->count()) /
               static_cast<int64_t>(sizeof(float));
  }
}

absl::Status LoadedModule::InModule(const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("module \"", name_,
                                                  "\": ", status.message()));
}

absl::Status LoadedModule::Load() {
  CountedFloats memory;
  if (floats_ > 0) memory = CountedFloats(loader_->meter(), floats_);
  for (const BoundParameter& bound : parameters_) {
    if (bound.in_place != nullptr) continue;
    const absl::Status status =
        ReadRows(loader_->store(), bound.weight, 0, bound.weight.rows(),
                 memory.data() + bound.offset_floats);
    if (!status.ok()) return InModule(status);
  }
  for (const BoundParameter& bound : parameters_) {
    bound.parameter->set_data(bound.in_place != nullptr
                                  ? bound.in_place
                                  : memory.data() + bound.offset_floats);
  }
  memory_ = std::move(memory);
  return absl::OkStatus();
}

void LoadedModule::Drop() {
  for (const BoundParameter& bound : parameters_) {
    bound.parameter->set_data(nullptr);
  }
  memory_ = CountedFloats();
}

absl::Status LoadedModule::Acquire() {
  return is_kept_ ? absl::OkStatus() : loader_->Acquire(this);
}

void LoadedModule::Release() {
  if (!is_kept_) loader_->Release(this);
}

absl::StatusOr<RowsLease> LoadedModule::AcquireRows(const Parameter& parameter,
                                                    int64_t row, int64_t rows) {
  const auto bound = std::find_if(
      parameters_.begin(), parameters_.end(),
      [&](const BoundParameter& one) { return one.parameter == &parameter; });
  if (bound == parameters_.end()) {
    return InModule(absl::InvalidArgumentError(absl::StrCat(
        "the parameter \"", parameter.name(), "\" is another module's")));
  }
  // Checks the rows before anything is allocated.
  const absl::StatusOr<Tile> tile = bound->weight.Block(row, rows, 0, 0);
  if (!tile.ok()) return InModule(tile.status());
  const int64_t columns = parameter.columns();
  const float* const there = is_kept_ ? parameter.data() : bound->in_place;
  if (there != nullptr) {
    return RowsLease(RowsLease(), there + row * columns);
  }
  auto memory =
      std::make_shared<CountedFloats>(loader_->meter(), rows * columns);
  const absl::Status status =
      ReadRows(loader_->store(), bound->weight, row, rows, memory->data());
  if (!status.ok()) return InModule(status);
  return RowsLease(memory, memory->data());
}

ModuleLoader::~ModuleLoader() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (LoadedModule& module : modules_) module.Drop();
}

LoadedModule* ModuleLoader::Add(std::string name, bool is_kept,
                                std::vector<BoundParameter> parameters) {
  modules_.emplace_back(this, std::move(name), is_kept, std::move(parameters));
  return &modules_.back();
}

absl::Status ModuleLoader::Start(const std::vector<LoadedModule*>& order) {
  for (LoadedModule& module : modules_) {
    if (!module.is_kept_) continue;
    const absl::Status status = module.Load();
    if (!status.ok()) return status;
  }
  if (order.empty() || prefetch_bytes_ == 0) return absl::OkStatus();
  for (size_t i = 0; i < order.size(); ++i) {
    order[i]->next_ = order[(i + 1) % order.size()];
  }
  {
    MutexLock lock(&mutex_);
    last_ = order.back();
  }
  try {
    thread_ = std::thread([this] { ReadAhead(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(
        absl::StrCat("no thread to read ahead: ", error.what(),
                     "; raise the limit of threads, or set prefetch_bytes "
                     "to 0"));
  }
  return absl::OkStatus();
}

int64_t ModuleLoader::loads() const {
  MutexLock lock(&mutex_);
  return loads_;
}

int64_t ModuleLoader::prefetched_loads() const {
  MutexLock lock(&mutex_);
  return prefetched_loads_;
}

absl::Status ModuleLoader::Acquire(LoadedModule* module) {
  MutexLock lock(&mutex_);
  if (module->leases_++ == 0) ++loads_;
  if (module->is_read_ahead_) {
    ++prefetched_loads_;
    NoLongerAhead(module);
  }
  module->has_failed_ = false;
  if (thread_.joinable()) {
    last_->next_ = module;
    last_ = module;
    DropMispredicted();
    wake_.NotifyOne();
  }
  using State = LoadedModule::State;
  while (module->state_ == State::kReading) read_.Wait(&mutex_);
  if (module->state_ == State::kLoaded) return absl::OkStatus();
  const absl::Status status = Read(module);
  if (!status.ok()) --module->leases_;
  read_.NotifyAll();
  return status;
}

absl::Status ModuleLoader::Read(LoadedModule* module) {
  using State = LoadedModule::State;
  module->state_ = State::kReading;
  absl::Status status;
  {
    MutexUnlock unlock(&mutex_);
    status = module->Load();
  }
  module->state_ = status.ok() ? State::kLoaded : State::kAbsent;
  return status;
}

void ModuleLoader::Release(LoadedModule* module) {
  MutexLock lock(&mutex_);
  if (--module->leases_ > 0) return;
  module->Drop();
  module->state_ = LoadedModule::State::kAbsent;
  wake_.NotifyOne();
}

// Returns the modules that are expected next, as many as may be read ahead.
std::vector<LoadedModule*> ModuleLoader::Upcoming() const {
  std::vector<LoadedModule*> upcoming;
  int64_t bytes = 0;
  const LoadedModule* at = last_;
  for (size_t i = 0; i < modules_.size(); ++i) {
    LoadedModule* const next = at->next_;
    if (next == nullptr) break;
    at = next;
    if (next->leases_ > 0) continue;
    bytes += next->bytes();
    if (bytes > prefetch_bytes_) break;
    upcoming.push_back(next);
  }
  return upcoming;
}

void ModuleLoader::DropMispredicted() {
  if (ahead_bytes_ == 0) return;
  const std::vector<LoadedModule*> upcoming = Upcoming();
  for (LoadedModule& module : modules_) {
    if (!module.is_read_ahead_ ||
        module.state_ != LoadedModule::State::kLoaded ||
        std::find(upcoming.begin(), upcoming.end(), &module) !=
            upcoming.end()) {
      continue;
    }
    NoLongerAhead(&module);
    module.Drop();
    module.state_ = LoadedModule::State::kAbsent;
  }
}

void ModuleLoader::NoLongerAhead(LoadedModule* module) {
  module->is_read_ahead_ = false;
  ahead_bytes_ -= module->bytes();
}

// Returns null if there is no room or nothing to read.
LoadedModule* ModuleLoader::NextToRead() const {
  for (LoadedModule* module : Upcoming()) {
    if (module->state_ != LoadedModule::State::kAbsent || module->has_failed_) {
      continue;
    }
    return ahead_bytes_ + module->bytes() <= prefetch_bytes_ ? module : nullptr;
  }
  return nullptr;
}

void ModuleLoader::ReadAhead() {
  MutexLock lock(&mutex_);
  while (!stop_) {
    LoadedModule* const module = NextToRead();
    if (module == nullptr) {
      wake_.Wait(&mutex_);
      continue;
    }
    module->is_read_ahead_ = true;
    ahead_bytes_ += module->bytes();
    const absl::Status status = Read(module);
    if (!status.ok()) {
      // A thread that needs the module reads it again and reports the error.
      module->has_failed_ = true;
      if (module->is_read_ahead_) NoLongerAhead(module);
    }
    read_.NotifyAll();
  }
}

}  // namespace footprint::lowmem_internal
