#include "footprint/profiling/sites/mapping_sites.h"

#include <atomic>

namespace footprint::profiling_internal {
namespace {

// The site of mappings whose calls are unknown.
constexpr uint32_t kWithoutCalls = 0;

}  // namespace

bool MappingSites::Begin(GrowingFile* file, SiteFile* sites) {
  array_ = GrowingArray(file, offsetof(SiteFile, mapping_sites),
                        sizeof(MappingSiteRecord), kMaxMappingSites);
  if (!array_.Reach(kWithoutCalls)) return false;
  sites_ = sites;
  mapped_bytes_ = ranges_.GiveAllTo(kWithoutCalls);
  peak_bytes_ = mapped_bytes_;
  sites->mapping_sites[kWithoutCalls].mapped_bytes = mapped_bytes_;
  sites->mapping_site_count.store(1, std::memory_order_release);
  // The sites' own numbers are 0, so the peak that is about to begin differs.
  sites->mapped_peak_number.store(1, std::memory_order_relaxed);
  return true;
}

void MappingSites::End() {
  sites_ = nullptr;
  index_.Clear();
}

uint32_t MappingSites::FindSite(uint32_t node, uint32_t stage) {
  const uint64_t hash = HashPair(node, stage);
  const uint32_t known = index_.Find(hash, [&](uint32_t number) {
    const MappingSiteRecord& site = sites_->mapping_sites[number];
    return site.node == node && site.stage == stage;
  });
  if (known != NumberIndex::kNone) return known;
  const uint32_t number =
      sites_->mapping_site_count.load(std::memory_order_relaxed);
  if (!array_.Reach(number) || !index_.Add(hash, number)) return kWithoutCalls;
  MappingSiteRecord& site = sites_->mapping_sites[number];
  site.node = node;
  site.stage = stage;
  sites_->mapping_site_count.store(number + 1, std::memory_order_release);
  return number;
}

void MappingSites::Change(uint32_t number, int64_t change_bytes) {
  MappingSiteRecord& site = sites_->mapping_sites[number];
  const uint64_t peak =
      sites_->mapped_peak_number.load(std::memory_order_relaxed);
  if (site.peak_number != peak) {
    site.at_peak_bytes = site.mapped_bytes;
    site.peak_number = peak;
  }
  site.mapped_bytes += change_bytes;
  mapped_bytes_ += change_bytes;
}

bool MappingSites::Map(uintptr_t begin, size_t size_bytes, uint32_t node,
                       uint32_t stage) {
  const uint32_t site = FindSite(node, stage);
  const bool has_room = ranges_.Assign(
      begin, size_bytes, site, [this](uint32_t number, int64_t change_bytes) {
        Change(number, change_bytes);
      });
  if (mapped_bytes_ > peak_bytes_) {
    peak_bytes_ = mapped_bytes_;
    sites_->mapped_peak_number.fetch_add(1, std::memory_order_relaxed);
  }
  return has_room && site != kWithoutCalls;
}

bool MappingSites::Unmap(uintptr_t begin, size_t size_bytes) {
  return ranges_.Remove(begin, size_bytes,
                        [this](uint32_t number, int64_t change_bytes) {
                          Change(number, change_bytes);
                        });
}

}  // namespace footprint::profiling_internal
