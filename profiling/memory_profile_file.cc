#include "footprint/profiling/memory_profile_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// Far above any profile; keeps a foreign file from filling the memory.
constexpr int64_t kMaximumFileBytes = int64_t{256} << 20;

const char* NounOf(const MemoryProfile&) { return "memory profile"; }
const char* NounOf(const MemorySamples&) { return "file of memory samples"; }

absl::Status ErrnoStatus(int error, const std::string& path,
                         const std::string& doing) {
  const std::string message =
      absl::StrCat(path, ": ", doing, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(absl::StrCat(
          message, "; check the path, or build the target that writes it"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(
          absl::StrCat(message, "; check the permissions"));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; free disk space and run again"));
    default:
      return absl::InternalError(message);
  }
}

// Closes on every way out.
class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  // False, with errno, if what was written could not all be stored.
  bool Close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  // Not to be held up by a pipe of that name.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return ErrnoStatus(errno, path, "cannot be opened");
  struct stat facts;
  if (fstat(file.get(), &facts) != 0) {
    return ErrnoStatus(errno, path, "cannot be read");
  }
  if (!S_ISREG(facts.st_mode) || facts.st_size > kMaximumFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is not a regular file of at most ", kMaximumFileBytes,
        " bytes; name the output of a memory_profile target"));
  }
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count =
        read(file.get(), &bytes[filled], bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, path, "cannot be read");
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

bool WriteAll(int descriptor, const std::string& bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count =
        write(descriptor, &bytes[written], bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    written += static_cast<size_t>(count);
  }
  return true;
}

// A new file in the folder of `path`, its name in `partial`; -1, with errno, if
// none can be made. Unlike mkstemp's, its permissions follow the umask.
int OpenBeside(const std::string& path, std::string* partial) {
  constexpr int kAttempts = 1000;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *partial = absl::StrCat(path, ".", getpid(), ".", attempt, ".partial");
    descriptor =
        open(partial->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  return descriptor;
}

// Writes beside `path`, then renames, so that no reader sees half a file.
absl::Status ReplaceFile(const std::string& bytes, const std::string& path) {
  std::string partial;
  FileDescriptor file(OpenBeside(path, &partial));
  if (file.get() < 0) return ErrnoStatus(errno, path, "cannot be created");
  if (!WriteAll(file.get(), bytes) || !file.Close() ||
      std::rename(partial.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(partial.c_str());
    return ErrnoStatus(error, path, "cannot be written");
  }
  return absl::OkStatus();
}

// What is wrong with a message, or "": each says where, beginning with `where`.
std::string FindUnknown(const Message& message, const std::string& where);

std::string FindUnknownInField(const Message& message,
                               const FieldDescriptor* field, int index,
                               const std::string& where) {
  const Reflection* reflection = message.GetReflection();
  const bool is_repeated = field->is_repeated();
  const std::string place =
      absl::StrCat(where, where.empty() ? "" : ".", std::string(field->name()),
                   is_repeated ? absl::StrCat("[", index, "]") : "");
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return FindUnknown(
        is_repeated ? reflection->GetRepeatedMessage(message, field, index)
                    : reflection->GetMessage(message, field),
        place);
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const int number =
        is_repeated ? reflection->GetRepeatedEnumValue(message, field, index)
                    : reflection->GetEnumValue(message, field);
    if (number == 0 || !field->enum_type()->FindValueByNumber(number)) {
      return absl::StrCat(place, " = ", number, ", which is no ",
                          std::string(field->enum_type()->name()));
    }
  }
  return "";
}

std::string FindUnknown(const Message& message, const std::string& where) {
  const Reflection* reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) {
    return absl::StrCat("unknown field ", unknown.field(0).number(),
                        where.empty() ? "" : " in ", where);
  }
  // Every enumerator field, set or not: unset is "unspecified", and that is an
  // error too.
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool is_message =
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int count = field->is_repeated()
                          ? reflection->FieldSize(message, field)
                      : !is_message                          ? 1
                      : reflection->HasField(message, field) ? 1
                                                             : 0;
    for (int index = 0; index < count; ++index) {
      std::string problem = FindUnknownInField(message, field, index, where);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

template <typename Metrics>
std::string FindBadMetric(const Metrics& metrics, const std::string& where) {
  std::set<int> kinds;
  for (const Metric& metric : metrics) {
    if (!kinds.insert(metric.kind()).second) {
      return absl::StrCat(where, " has ", MetricKind_Name(metric.kind()),
                          " twice");
    }
    if (metric.value() < 0 && metric.kind() != NET_GROWTH_USABLE_BYTES) {
      return absl::StrCat(where, " has ", MetricKind_Name(metric.kind()), " = ",
                          metric.value(), ", below zero");
    }
  }
  return "";
}

std::string FindInconsistency(const BenchmarkMemory& benchmark) {
  const std::string where =
      absl::StrCat("benchmark \"", benchmark.name(), "\"");
  if (benchmark.name().empty()) return "a benchmark has no name";
  std::string problem = FindBadMetric(benchmark.metrics(), where);
  std::set<std::string> phase_names;
  for (int i = 0; problem.empty() && i < benchmark.phases_size(); ++i) {
    const Phase& phase = benchmark.phases(i);
    if (phase.parent() < -1 || phase.parent() >= i) {
      return absl::StrCat(where, ", phase \"", phase.name(), "\" has parent ",
                          phase.parent(), ", which is no earlier phase");
    }
    if (!phase_names.insert(phase.name()).second) {
      return absl::StrCat(where, " has two phases named \"", phase.name(),
                          "\"");
    }
    problem = FindBadMetric(
        phase.metrics(), absl::StrCat(where, ", phase \"", phase.name(), "\""));
  }
  return problem;
}

std::string FindInconsistency(const MemoryProfile& profile) {
  if (profile.process_count() < 0) return "a negative process_count";
  if (profile.has_failure() == (profile.benchmarks_size() > 0)) {
    return profile.has_failure() ? "both benchmarks and a failure"
                                 : "neither a benchmark nor a failure";
  }
  std::set<std::string> names;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    std::string problem = FindInconsistency(benchmark);
    if (!problem.empty()) return problem;
    if (!names.insert(benchmark.name()).second) {
      return absl::StrCat("two benchmarks named \"", benchmark.name(), "\"");
    }
  }
  return "";
}

std::string FindInconsistency(const MemorySamples& samples) {
  std::set<std::string> names;
  for (const SampledBenchmark& benchmark : samples.benchmarks()) {
    if (!names.insert(benchmark.name()).second) {
      return absl::StrCat("two benchmarks named \"", benchmark.name(), "\"");
    }
  }
  return "";
}

template <typename FileMessage>
absl::StatusOr<FileMessage> Read(const std::string& path) {
  FileMessage message;
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const std::string noun = NounOf(message);
  if (bytes->empty()) {
    return absl::DataLossError(absl::StrCat(
        path, ": is empty; run again what should have written the ", noun));
  }
  const bool is_parsed = message.ParseFromString(*bytes);
  const int version = message.schema_version();
  if (is_parsed && version > kMemoryProfileSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": has schema version ", version,
        ", and this program reads up to ", kMemoryProfileSchemaVersion,
        "; update Footprint here, or measure with this version of it"));
  }
  if (version < 1 || version > kMemoryProfileSchemaVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no ", noun,
                     "; name the output of a memory_profile target"));
  }
  if (!is_parsed || !message.complete()) {
    return absl::DataLossError(absl::StrCat(
        path, ": is no whole ", noun,
        ": cut short or damaged; run again what should have written it"));
  }
  std::string problem = FindUnknown(message, "");
  if (problem.empty()) problem = FindInconsistency(message);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no valid ", noun, ": ", problem,
                     "; write it with the same version of Footprint"));
  }
  message.clear_complete();
  return message;
}

template <typename FileMessage>
absl::Status Write(FileMessage message, const std::string& path) {
  message.set_schema_version(kMemoryProfileSchemaVersion);
  message.set_complete(true);
  std::string problem = FindUnknown(message, "");
  if (problem.empty()) problem = FindInconsistency(message);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not written: the ", NounOf(message), " has ", problem));
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message.SerializeToCodedStream(&coded)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": not written: it cannot be serialised"));
    }
  }
  return ReplaceFile(bytes, path);
}

}  // namespace

absl::StatusOr<MemoryProfile> ReadMemoryProfileFile(const std::string& path) {
  return Read<MemoryProfile>(path);
}

absl::StatusOr<MemorySamples> ReadMemorySamplesFile(const std::string& path) {
  return Read<MemorySamples>(path);
}

absl::Status WriteMemoryProfileFile(const MemoryProfile& profile,
                                    const std::string& path) {
  return Write(profile, path);
}

absl::Status WriteMemorySamplesFile(const MemorySamples& samples,
                                    const std::string& path) {
  return Write(samples, path);
}

}  // namespace footprint
