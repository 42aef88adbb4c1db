#include "footprint/profiling/runs/uncounted_heap.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/profiling/records/process_record.h"

namespace footprint {
namespace {

using profiling_internal::kPrivateAllocator;
using profiling_internal::kSilentAllocator;

bool IsPrivate(const MeasuredImage& image) {
  return absl::StartsWith(image.allocator(), kPrivateAllocator);
}

}  // namespace

bool IsCounted(const MeasuredImage& image) {
  return !image.has_foreign_new() && !IsPrivate(image) &&
         image.peak_live_bytes() > 0;
}

std::string DescribeUncountedHeap(const MeasuredImage& image) {
  if (IsPrivate(image)) {
    return absl::StrCat("has an allocator of its own, which is not counted (",
                        image.allocator(), ")");
  }
  if (absl::EndsWith(image.allocator(), kSilentAllocator)) {
    return absl::StrCat(
        "has an allocator that does not report block sizes, so its blocks are "
        "not counted (",
        absl::StripSuffix(image.allocator(), kSilentAllocator), ")");
  }
  return image.has_foreign_new()
             ? "has an operator new of its own: its blocks may not be counted"
             : "allocated nothing by malloc: it may have an allocator of its "
               "own, which is not counted";
}

}  // namespace footprint
