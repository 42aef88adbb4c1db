#include "footprint/lowmem/programs/read_certificate.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint::lowmem_internal {

std::string BoundLine(const ReadBound& bound, int64_t sequences) {
  const int64_t pass_bytes = bound.LeastBytesOfPass();
  std::string line =
      absl::StrCat("least        ", FormatRoundedBytes(bound.pass_bytes),
                   " to read for a first pass, ",
                   FormatRoundedBytes(pass_bytes), " for each further one");
  if (sequences == 1) return line;
  absl::StrAppend(&line, "; ", FormatRoundedBytes(pass_bytes / sequences),
                  " for each token of ", sequences,
                  " sequences that keep their keys and values");
  return line;
}

std::string DiskLine(int64_t bytes_a_second, const ReadBound& bound,
                     int64_t sequences) {
  std::string line = absl::StrCat(
      "disk         ", FormatRoundedBytes(bytes_a_second), " a second");
  if (bound.LeastBytesOfPass() == 0) return line;
  const double passes = static_cast<double>(bytes_a_second) /
                        static_cast<double>(bound.LeastBytesOfPass());
  absl::StrAppendFormat(&line, ", so at most %.2f further passes a second",
                        passes);
  if (sequences > 1) {
    absl::StrAppendFormat(&line, ", which give %.2f tokens",
                          passes * static_cast<double>(sequences));
  }
  return line;
}

std::string ReadRatio(const WeightStore& store, const ReadBound& bound,
                      int64_t passes) {
  if (store.backend() == WeightBackend::kMmap) return "";
  const int64_t least_bytes = bound.LeastBytes(passes);
  return absl::StrFormat("%.3f of the least for %d passes, which is %s",
                         static_cast<double>(store.counters().bytes_read) /
                             static_cast<double>(least_bytes),
                         passes, FormatRoundedBytes(least_bytes));
}

}  // namespace footprint::lowmem_internal
