#include "footprint/gates/importing/heap_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/call_stacks/call_stack_profile.pb.h"
#include "footprint/base/text/report_escape.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace footprint {
namespace {

constexpr absl::string_view kGperftoolsBegin = "heap profile:";
constexpr absl::string_view kJemallocBegin = "heap_v2/";
// Both kinds of text end with the program's mappings.
constexpr absl::string_view kMappings = "\nMAPPED_LIBRARIES:\n";
constexpr int64_t kMostBytes = int64_t{1} << 62;

absl::Status CutShort() {
  return absl::DataLossError(
      "is cut short: a heap profile ends with MAPPED_LIBRARIES; write it "
      "again");
}

absl::Status NoHeapProfile(absl::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat("has a line that is not a heap profile's: \"",
                   EscapeForTerminal(line.substr(0, 80)), "\""));
}

struct Bucket {
  int64_t blocks = 0;
  int64_t bytes = 0;
};

// Parses "   984:   984000 [   984:   984000] @ ..." up to the bracket.
bool ParseBucket(absl::string_view line, Bucket* bucket) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits('[', 1));
  const std::vector<absl::string_view> numbers =
      absl::StrSplit(parts.first, ':');
  return numbers.size() == 2 && absl::StrContains(parts.second, ']') &&
         absl::SimpleAtoi(numbers[0], &bucket->blocks) &&
         absl::SimpleAtoi(numbers[1], &bucket->bytes) && bucket->blocks >= 0 &&
         bucket->bytes >= 0 && bucket->bytes < kMostBytes &&
         (bucket->blocks > 0 || bucket->bytes == 0);
}

// Returns the estimated bytes in use for a bucket of samples: a block of s
// bytes is sampled with the probability 1 - exp(-s / rate).
double Unsampled(const Bucket& bucket, int64_t rate) {
  const auto bytes = static_cast<double>(bucket.bytes);
  if (rate <= 1 || bucket.bytes == 0) return bytes;
  const double mean = bytes / static_cast<double>(bucket.blocks);
  return bytes / -std::expm1(-mean / static_cast<double>(rate));
}

absl::StatusOr<int64_t> ParseRate(absl::string_view text) {
  int64_t rate = 0;
  if (!absl::SimpleAtoi(text, &rate) || rate < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("has no sampling interval, but \"",
                     EscapeForTerminal(text.substr(0, 80)), "\""));
  }
  return rate;
}

absl::StatusOr<ForeignFigures> ReadFigures(const char* tool,
                                           const std::string& counts,
                                           MetricKind metric, double bytes) {
  if (!(bytes < static_cast<double>(kMostBytes))) {
    return absl::InvalidArgumentError("has more bytes than a program can hold");
  }
  ForeignFigures figures;
  figures.tool = tool;
  figures.counts = counts;
  figures.peaks.emplace_back();
  figures.peaks.back().metric = metric;
  figures.peaks.back().bytes = static_cast<int64_t>(std::ceil(bytes));
  return figures;
}

std::string MakeCounts(const char* bytes, int64_t rate) {
  return rate <= 1 ? absl::StrCat(bytes, " in use when it was written")
                   : absl::StrCat(bytes,
                                  " in use when it was written, sampled every ",
                                  rate, " bytes");
}

absl::StatusOr<ForeignFigures> ParseGperftools(
    const std::vector<absl::string_view>& lines) {
  absl::string_view head = lines[0];
  absl::ConsumePrefix(&head, kGperftoolsBegin);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(head, absl::MaxSplits(" @ ", 1));
  Bucket total;
  if (!ParseBucket(parts.first, &total)) return NoHeapProfile(lines[0]);
  int64_t rate = 1;
  absl::string_view kind = parts.second;
  if (absl::ConsumePrefix(&kind, "heap_v2/")) {
    const absl::StatusOr<int64_t> parsed = ParseRate(kind);
    if (!parsed.ok()) return parsed.status();
    rate = *parsed;
  } else if (kind != "heapprofile") {
    return absl::InvalidArgumentError(
        absl::StrCat("is a profile of \"", EscapeForTerminal(kind),
                     "\"; those of heapprofile and heap_v2 are read"));
  }
  double bytes = 0;
  int64_t listed = 0;
  for (size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    Bucket bucket;
    if (!ParseBucket(lines[i], &bucket)) return NoHeapProfile(lines[i]);
    bytes += Unsampled(bucket, rate);
    listed = std::min(listed + bucket.bytes, kMostBytes);
  }
  if (listed != total.bytes) {
    return absl::DataLossError(
        absl::StrCat("is damaged: its call sites hold ", listed,
                     " bytes, and its first line says ", total.bytes));
  }
  return ReadFigures("gperftools", MakeCounts("requested bytes", rate),
                     PEAK_LIVE_REQUESTED_BYTES, bytes);
}

// Parses jemalloc's text: for each stack ("@ 0x... 0x...") a line "t*" with the
// figures of all threads, and a line for each thread.
absl::StatusOr<ForeignFigures> ParseJemalloc(
    const std::vector<absl::string_view>& lines) {
  absl::string_view head = lines[0];
  absl::ConsumePrefix(&head, kJemallocBegin);
  const absl::StatusOr<int64_t> rate = ParseRate(head);
  if (!rate.ok()) return rate.status();
  double bytes = 0;
  bool is_of_stack = false;
  bool has_total = false;
  for (size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    absl::string_view line = lines[i];
    if (absl::StartsWith(line, "@")) {
      is_of_stack = true;
      continue;
    }
    Bucket bucket;
    const size_t colon = line.find(": ");
    if (!absl::StartsWith(line, "  t") || colon == absl::string_view::npos ||
        !ParseBucket(line.substr(colon + 2), &bucket)) {
      return NoHeapProfile(line);
    }
    if (!absl::StartsWith(line, "  t*")) continue;
    has_total = true;
    if (is_of_stack) bytes += Unsampled(bucket, *rate);
  }
  if (!has_total) return NoHeapProfile(lines[0]);
  return ReadFigures("jemalloc", MakeCounts("usable bytes", *rate),
                     PEAK_LIVE_USABLE_BYTES, bytes);
}

// Returns the unpacked size modulo 2^32, which is in the last four bytes; 0 if
// the file is too short.
uint32_t SizeThatGzipTells(absl::string_view bytes) {
  constexpr size_t kLeastBytes = 18;
  if (bytes.size() < kLeastBytes) return 0;
  uint32_t size = 0;
  for (size_t i = 1; i <= sizeof(size); ++i) {
    size = size << 8 | static_cast<unsigned char>(bytes[bytes.size() - i]);
  }
  return size;
}

// ---- pprof's message ----

class StackProfileReader {
 public:
  explicit StackProfileReader(const CallStackProfile& profile)
      : profile_(profile) {}

  absl::StatusOr<ForeignFigures> Read() {
    const int in_use = FindType();
    if (in_use < 0) return NoInUse();
    for (const StackFunction& function : profile_.function()) {
      function_names_[function.id()] = function.name();
    }
    for (const StackLocation& location : profile_.location()) {
      if (location.line_size() > 0) {
        site_names_[location.id()] =
            function_names_[location.line(0).function_id()];
      }
    }
    ForeignPeak peak;
    std::map<int64_t, int64_t> bytes_of_name;
    for (const StackSample& sample : profile_.sample()) {
      if (sample.value_size() != profile_.sample_type_size()) {
        return absl::InvalidArgumentError(
            "has a sample without a value for each type");
      }
      const int64_t value = sample.value(in_use);
      if (value < 0 || value > kMostBytes - peak.bytes) {
        return absl::InvalidArgumentError(
            "has a sample whose bytes are below zero or beyond 2^62");
      }
      peak.bytes += value;
      if (sample.location_id_size() > 0) {
        bytes_of_name[site_names_[sample.location_id(0)]] += value;
      }
    }
    for (const auto& [name, bytes] : bytes_of_name) {
      peak.sites.push_back({Text(name), bytes});
    }
    ForeignFigures figures;
    figures.tool = "pprof";
    figures.counts = MakeCounts("requested bytes", profile_.period());
    figures.peaks.push_back(std::move(peak));
    return figures;
  }

 private:
  std::string Text(int64_t index) const {
    return index > 0 && index < profile_.string_table_size()
               ? EscapeForTerminal(
                     profile_.string_table(static_cast<int>(index)))
               : "";
  }

  int FindType() const {
    for (int i = 0; i < profile_.sample_type_size(); ++i) {
      if (Text(profile_.sample_type(i).type()) == "inuse_space" &&
          Text(profile_.sample_type(i).unit()) == "bytes") {
        return i;
      }
    }
    return -1;
  }

  absl::Status NoInUse() const {
    std::vector<std::string> types;
    for (const StackValueType& type : profile_.sample_type()) {
      types.push_back(Text(type.type()));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "is not a heap profile of pprof: it has no inuse_space in bytes, but ",
        types.empty() ? "no types of samples" : absl::StrJoin(types, ", ")));
  }

  const CallStackProfile& profile_;
  // Indices in the string table. Many functions, locations and samples may
  // share a long name, of which copies could fill the memory.
  std::map<uint64_t, int64_t> function_names_;
  std::map<uint64_t, int64_t> site_names_;
};

}  // namespace

bool LooksLikeHeapProfileText(absl::string_view text) {
  return absl::StartsWith(text, kGperftoolsBegin) ||
         absl::StartsWith(text, kJemallocBegin);
}

bool LooksGzipped(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\x1f\x8b");
}

absl::StatusOr<ForeignFigures> ParseHeapProfileText(absl::string_view text) {
  const size_t mappings = text.find(kMappings);
  if (mappings == absl::string_view::npos ||
      mappings + kMappings.size() == text.size() || text.back() != '\n') {
    return CutShort();
  }
  const std::vector<absl::string_view> lines =
      absl::StrSplit(text.substr(0, mappings), '\n');
  return absl::StartsWith(text, kJemallocBegin) ? ParseJemalloc(lines)
                                                : ParseGperftools(lines);
}

absl::StatusOr<ForeignFigures> ParseGzippedHeapProfile(
    absl::string_view bytes) {
  google::protobuf::io::ArrayInputStream packed(bytes.data(),
                                                static_cast<int>(bytes.size()));
  google::protobuf::io::GzipInputStream unpacking(&packed);
  std::string unpacked;
  const void* part = nullptr;
  int size = 0;
  while (unpacking.Next(&part, &size)) {
    if (static_cast<int64_t>(unpacked.size()) + size > kMostUnpackedBytes) {
      return absl::ResourceExhaustedError("is larger than 256 MiB, unpacked");
    }
    unpacked.append(static_cast<const char*>(part), static_cast<size_t>(size));
  }
  if (unpacked.empty()) {
    return absl::DataLossError(
        "is cut short or damaged: nothing unpacks; write it again");
  }
  // A file that is cut short may end the stream too, so its last bytes must
  // match the unpacked size.
  constexpr int kZlibStreamEnd = 1;
  if (unpacking.ZlibErrorCode() != kZlibStreamEnd ||
      SizeThatGzipTells(bytes) != static_cast<uint32_t>(unpacked.size())) {
    return absl::DataLossError(
        "is cut short or damaged: it does not unpack; write it again");
  }
  return ParseHeapProfileMessage(unpacked);
}

absl::StatusOr<ForeignFigures> ParseHeapProfileMessage(
    absl::string_view bytes) {
  CallStackProfile profile;
  if (!profile.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("is packed, but not a profile of pprof");
  }
  return StackProfileReader(profile).Read();
}

}  // namespace footprint
