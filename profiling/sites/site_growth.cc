#include "footprint/profiling/sites/site_growth.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace footprint::profiling_internal {
namespace {

constexpr int64_t kFirstWindowNs = 1'000'000;

}  // namespace

void SiteGrowth::Begin(int folder, const char* file_name, int64_t now_ns) {
  Close();
  auto* const opened = static_cast<GrowthFile*>(file_.Create(
      folder, file_name, sizeof(GrowthFile), offsetof(GrowthFile, sites)));
  sites_ = GrowingArray(&file_, offsetof(GrowthFile, sites),
                        sizeof(GrowthRecord), kMaxSites);
  if (opened == nullptr || !sites_.Reach(0)) {
    Close();
    // An empty file is not a valid record, so it is removed.
    unlinkat(folder, file_name, 0);
    return;
  }
  opened->begin_time_ns[0] = now_ns;
  window_ns_ = kFirstWindowNs;
  window_active_ns_ = 0;
  growth_ = opened;
  __atomic_store_n(&opened->magic, kGrowthMagic, __ATOMIC_RELEASE);
}

void SiteGrowth::Close() {
  growth_ = nullptr;
  file_.Close();
}

void SiteGrowth::Change(uint32_t site, int64_t live_bytes_before,
                        int64_t live_bytes_after) {
  if (growth_ == nullptr || !sites_.Reach(site)) return;
  GrowthRecord* const record = &growth_->sites[site];
  const uint32_t window = growth_->window.load(std::memory_order_relaxed);
  record->BringTo(window, growth_->halvings.load(std::memory_order_relaxed),
                  static_cast<float>(live_bytes_before));
  if (record->is_used == 0) {
    record->is_used = 1;
    record->first_window = window;
  }
  record->floor_bytes[window] = std::min(record->floor_bytes[window],
                                         static_cast<float>(live_bytes_after));
}

void SiteGrowth::Advance(int64_t now_ns, int64_t active_ns) {
  if (growth_ == nullptr) return;
  window_active_ns_ += active_ns;
  while (window_active_ns_ >= window_ns_) {
    window_active_ns_ -= window_ns_;
    BeginWindow(now_ns);
  }
}

void SiteGrowth::BeginWindow(int64_t now_ns) {
  uint32_t next = growth_->window.load(std::memory_order_relaxed) + 1;
  if (next == kMaxGrowthWindows) {
    next = kMaxGrowthWindows / 2;
    for (uint32_t i = 0; i < next; ++i) {
      growth_->begin_time_ns[i] = growth_->begin_time_ns[2 * i];
    }
    growth_->halvings.store(
        growth_->halvings.load(std::memory_order_relaxed) + 1,
        std::memory_order_relaxed);
    window_ns_ *= 2;
  }
  growth_->begin_time_ns[next] = now_ns;
  growth_->window.store(next, std::memory_order_release);
}

}  // namespace footprint::profiling_internal
