#include "footprint/gates/trials/profiled_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/trials/confined_reader.h"
#include "footprint/gates/trials/embedded_record_reader.h"
#include "footprint/profiling/memprof/embedded_agent.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/stage_record.h"

namespace footprint {
namespace {

constexpr int64_t kBlockBytes = 64 << 10;
constexpr int64_t kMostApparentBytes = int64_t{1} << 30;
constexpr int64_t kMostRecordsBytes = int64_t{256} << 20;
constexpr int kMostRecords = 4000;
// A site of one MiB is sampled about 16 times.
constexpr int64_t kSampledBytes = 64 << 10;
// Where the reader sees the bundle, or the root of an image.
constexpr char kReaderBundleFolder[] = "/bundle";
// The images of most distributions have a C library of their own.
constexpr char kNoRecordsOfImage[] =
    "there are none, since the profiler could not be loaded into the program; "
    "it needs a program for this machine that glibc's loader loads, not a "
    "static one and not musl, and a glibc not older than the one that "
    "Footprint was built with";

// Adds the agent to the objects that the loader loads first. An image may have
// some of its own.
void Preload(const std::string& agent, std::vector<std::string>* environment) {
  constexpr absl::string_view kVariable = "LD_PRELOAD=";
  for (std::string& each : *environment) {
    if (!absl::StartsWith(each, kVariable)) continue;
    each = absl::StrCat(kVariable, agent, ":", each.substr(kVariable.size()));
    return;
  }
  environment->push_back(absl::StrCat(kVariable, agent));
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes,
                       mode_t mode) {
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.is_open() &&
      WriteOn(file.get(), bytes.data(), static_cast<int64_t>(bytes.size()))) {
    fchmod(file.get(), mode);
    return absl::OkStatus();
  }
  return FileError(errno, path, "cannot be written");
}

// Returns whether the name is like those of the agent, so that it cannot lead
// out of the folder.
bool IsRecordName(absl::string_view name) {
  return !name.empty() && name[0] != '.' && name.size() < 100 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") ==
             absl::string_view::npos;
}

// Copies the data of a file without its holes, up to `most_bytes`. Returns the
// bytes that were copied.
int64_t CopyData(int source, int target, int64_t most_bytes) {
  std::vector<char> block(kBlockBytes);
  int64_t copied = 0;
  int64_t offset = lseek(source, 0, SEEK_DATA);
  while (offset >= 0 && copied < most_bytes) {
    const int64_t hole = lseek(source, offset, SEEK_HOLE);
    while (offset < hole && copied < most_bytes) {
      const int64_t got =
          ReadAt(source, offset,
                 std::min({hole - offset, kBlockBytes, most_bytes - copied}),
                 block.data());
      if (got <= 0 || !WriteAt(target, offset, block.data(), got)) {
        return copied;
      }
      offset += got;
      copied += got;
    }
    offset = lseek(source, offset, SEEK_DATA);
  }
  return copied;
}

// Copies a record. Returns the bytes that were copied: 0 if it is not a regular
// file or seems too large.
int64_t CopyRecord(int folder, const char* name, const std::string& target,
                   int64_t most_bytes) {
  const FileDescriptor source(openat(
      folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat about = {};
  if (!source.is_open() || fstat(source.get(), &about) != 0 ||
      !S_ISREG(about.st_mode) || about.st_size > kMostApparentBytes) {
    return 0;
  }
  // The reader has none of this process's rights, so everyone may read the
  // copy.
  const FileDescriptor copy(
      open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!copy.is_open() || ftruncate(copy.get(), about.st_size) != 0) return 0;
  return CopyData(source.get(), copy.get(), most_bytes);
}

void CopyRecords(const std::string& source, const std::string& target) {
  DIR* const folder = opendir(source.c_str());
  if (folder == nullptr) return;
  int64_t bytes = 0;
  int count = 0;
  while (const dirent* each = readdir(folder)) {
    if (!IsRecordName(each->d_name)) continue;
    if (++count > kMostRecords || bytes >= kMostRecordsBytes) break;
    bytes += CopyRecord(dirfd(folder), each->d_name,
                        absl::StrCat(target, "/", each->d_name),
                        kMostRecordsBytes - bytes);
  }
  closedir(folder);
}

std::string MakeLabel(const TrialResult& result) {
  return result.manifest().label().empty()
             ? absl::StrCat("//bundle:", result.manifest().entry())
             : result.manifest().label();
}

void MakeStatistical(google::protobuf::RepeatedPtrField<Metric>* metrics) {
  for (Metric& each : *metrics) each.set_determinism(STATISTICAL);
}

}  // namespace

ProfiledRun::ProfiledRun(std::string folder, bool is_exact)
    : folder_(std::move(folder)), is_exact_(is_exact) {}

absl::Status ProfiledRun::Prepare(SandboxRun* run) {
  using profiling_internal::kRecordFolderVariable;
  using profiling_internal::kSamplingIntervalVariable;
  using profiling_internal::kStagesVariable;
  const std::string records = absl::StrCat(folder_, "/records");
  for (const std::string& each : {folder_, records}) {
    if (mkdir(each.c_str(), 0755) != 0) {
      return FileError(errno, each, "cannot be made");
    }
  }
  run->agent = absl::StrCat(folder_, "/agent.so");
  absl::Status status = WriteFile(run->agent, EmbeddedAgent(), 0555);
  if (!status.ok()) return status;
  Preload(AgentPath(*run), &run->environment);
  run->environment.push_back(
      absl::StrCat(kRecordFolderVariable, "=", RecordsPath(*run)));
  run->environment.push_back(absl::StrCat(kStagesVariable, "=all"));
  run->environment.push_back(absl::StrCat(kSamplingIntervalVariable, "=",
                                          is_exact_ ? 0 : kSampledBytes));
  run->read_records = [records](const std::string& folder) {
    CopyRecords(folder, records);
  };
  arguments_ = run->arguments;
  is_image_ = !run->image_folder.empty();
  bundle_folder_ = is_image_ ? run->image_folder : run->bundle_folder;
  return absl::OkStatus();
}

void ProfiledRun::Explain(const SandboxRoot& root, const TrialRun& run,
                          int64_t limit_bytes, TrialResult* result) const {
  RecordsToRead records;
  records.run.folder = absl::StrCat(folder_, "/records");
  if (is_image_) records.run.root_folder = kReaderBundleFolder;
  records.run.arguments = arguments_;
  records.run.exit_status = run.exit_status();
  records.run.signal_number = run.signal_number();
  records.run.wall_time_ns = run.wall_time_ns();
  records.limit_bytes = limit_bytes;
  records.work_folder = folder_;
  records.bundle_folder = bundle_folder_;
  absl::StatusOr<TrialExplanation> explanation =
      ReadRecordsConfined(root, records, EmbeddedRecordReader());
  if (absl::IsNotFound(explanation.status())) {
    if (is_image_) result->set_explanation_failure(kNoRecordsOfImage);
    return;
  }
  if (!explanation.ok()) {
    result->set_explanation_failure(
        EscapeForProto(explanation.status().message()));
    return;
  }
  explanation->mutable_profile()->set_label(MakeLabel(*result));
  result->set_heap_peak_bytes(explanation->heap_peak_bytes());
  result->set_peak_stage(explanation->peak_stage());
  result->mutable_peak_sites()->Swap(explanation->mutable_peak_sites());
  result->mutable_profile()->Swap(explanation->mutable_profile());
}

MemoryProfile ProfileToJudge(const TrialResult& result) {
  MemoryProfile profile = result.profile();
  profile.set_label(MakeLabel(result));
  profile.set_process_count(result.runs_size());
  if (profile.benchmarks().empty()) {
    profile.clear_failure();
    profile.add_benchmarks()->set_name(result.manifest().entry());
  }
  for (BenchmarkMemory& benchmark : *profile.mutable_benchmarks()) {
    MakeStatistical(benchmark.mutable_metrics());
    for (Phase& phase : *benchmark.mutable_phases()) {
      MakeStatistical(phase.mutable_metrics());
    }
    Metric* resident = nullptr;
    for (Metric& each : *benchmark.mutable_metrics()) {
      if (each.kind() == PEAK_RESIDENT_BYTES) resident = &each;
    }
    if (resident == nullptr) resident = benchmark.add_metrics();
    resident->set_kind(PEAK_RESIDENT_BYTES);
    resident->set_determinism(STATISTICAL);
    resident->set_value(result.whole_process_peak_bytes());
  }
  return profile;
}

}  // namespace footprint
