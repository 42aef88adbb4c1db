// Tests what memory_profile_file.h promises.

#include "footprint/profiling/schema/memory_profile_file.h"

#include <dirent.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MemoryProfileFileTest : public ::testing::Test {
 protected:
  MemoryProfileFileTest() {
    std::string pattern = ::testing::TempDir() + "/profile_XXXXXX";
    folder_ = mkdtemp(&pattern[0]);
  }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  std::string Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<std::string> FilesInFolder() const {
    std::vector<std::string> names;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    }
    closedir(folder);
    return names;
  }

 private:
  std::string folder_;
};

void AddMetric(MetricKind kind, int64_t value,
               google::protobuf::RepeatedPtrField<Metric>* metrics) {
  Metric* metric = metrics->Add();
  metric->set_kind(kind);
  metric->set_determinism(EXACT);
  metric->set_value(value);
}

MemoryProfile ExampleProfile() {
  MemoryProfile profile;
  profile.set_schema_version(kMemoryProfileSchemaVersion);
  profile.set_label("//memo:memo_benchmark");
  profile.set_process_count(3);
  profile.mutable_environment()->set_allocator("jemalloc 5.3.0");
  profile.mutable_environment()->set_page_size_bytes(4096);
  for (const char* name : {"BM_LoadLazy/layers:24", "BM_LoadEager"}) {
    BenchmarkMemory* benchmark = profile.add_benchmarks();
    benchmark->set_name(name);
    Argument* argument = benchmark->add_arguments();
    argument->set_name("layers");
    argument->set_value("24");
    AddMetric(PEAK_LIVE_USABLE_BYTES, 1 << 20, benchmark->mutable_metrics());
    AddMetric(NET_GROWTH_USABLE_BYTES, -64, benchmark->mutable_metrics());
    benchmark->add_unrepeated(SUM_THREAD_PEAK_USABLE_BYTES);
    for (int parent : {-1, 0}) {
      Phase* phase = benchmark->add_phases();
      phase->set_name(parent < 0 ? "loop" : "fit");
      phase->set_parent(parent);
      AddMetric(ALLOCATION_COUNT, 7, phase->mutable_metrics());
    }
    Attribution* attribution = benchmark->add_peak_attribution();
    attribution->set_site("phase:fit");
    attribution->set_live_bytes(1000);
  }
  return profile;
}

MemorySamples ExampleSamples() {
  MemorySamples samples;
  samples.set_schema_version(kMemoryProfileSchemaVersion);
  samples.set_label("//memo:memo_benchmark");
  samples.set_kernel("Linux 6.1");
  SampledBenchmark* benchmark = samples.add_benchmarks();
  benchmark->set_name("BM_LoadEager");
  SampledMetric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_RESIDENT_BYTES);
  for (int64_t value : {4096, 8192}) metric->add_values(value);
  return samples;
}

// Computes the checksum bit by bit, as the standard defines it.
uint32_t Crc32(const std::string& bytes) {
  uint32_t remainder = 0xFFFFFFFF;
  for (char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t lowest = (remainder ^ (c >> bit)) & 1;
      remainder = (remainder >> 1) ^ (lowest != 0 ? 0xEDB88320 : 0);
    }
  }
  return ~remainder;
}

// Appends the checksum as a writer does.
std::string WithChecksum(const std::string& bytes) {
  std::string file = bytes + "\x85\x01";
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    file += static_cast<char>(Crc32(bytes) >> shift);
  }
  return file;
}

std::string WriteToString(const MemoryProfile& profile) {
  return WithChecksum(profile.SerializeAsString());
}

// Changes, removes or doubles a few bytes.
std::string Damage(std::string bytes, std::mt19937* random) {
  const int changes = 1 + (*random)() % 8;
  for (int change = 0; change < changes && !bytes.empty(); ++change) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 4) {
      case 0:
        bytes[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes.erase(at, 1 + (*random)() % 16);
        break;
      case 2:
        bytes.insert(at, bytes, (*random)() % bytes.size(), (*random)() % 16);
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
        break;
    }
  }
  return bytes;
}

TEST_F(MemoryProfileFileTest, EndsWithTheChecksumOfAllBytesBeforeIt) {
  ASSERT_EQ(Crc32("123456789"), 0xCBF43926);  // the example of the standard
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  MemoryProfile profile = ExampleProfile();
  profile.set_complete(true);
  EXPECT_EQ(Bytes(Path("p")), WriteToString(profile));
}

TEST_F(MemoryProfileFileTest, RefusesEverySingleBitThatIsFlipped) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  ASSERT_THAT(WriteMemorySamplesFile(ExampleSamples(), Path("s")), IsOk());
  for (const char* name : {"p", "s"}) {
    const std::string whole = Bytes(Path(name));
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      const std::string path = Put("flipped", bytes);
      const absl::Status status = *name == 'p'
                                      ? ReadMemoryProfileFile(path).status()
                                      : ReadMemorySamplesFile(path).status();
      ASSERT_THAT(status, Not(IsOk())) << name << ", bit " << bit;
    }
  }
}

TEST_F(MemoryProfileFileTest, RefusesFlippedBitsOfALargeProfile) {
  MemoryProfile profile = ExampleProfile();
  for (int i = 0; i < 500; ++i) {
    BenchmarkMemory* benchmark = profile.add_benchmarks();
    *benchmark = profile.benchmarks(0);
    benchmark->set_name(absl::StrCat("BM_Load/layers:", 100 + i));
  }
  ASSERT_THAT(WriteMemoryProfileFile(profile, Path("p")), IsOk());
  const std::string whole = Bytes(Path("p"));
  ASSERT_GT(whole.size(), 50000u);
  std::mt19937 random(20261122);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    const size_t bit = random() % (8 * whole.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const absl::Status status =
        ReadMemoryProfileFile(Put("flipped", bytes)).status();
    ASSERT_THAT(status, Not(IsOk())) << "bit " << bit;
  }
}

// Tests the most valuable flip: a peak that is 1,024 bytes lower.
TEST_F(MemoryProfileFileTest, ALowerPeakIsSaidToBeDamage) {
  MemoryProfile lower = ExampleProfile();
  Metric* peak = lower.mutable_benchmarks(0)->mutable_metrics(0);
  peak->set_value(peak->value() - 1024);
  lower.set_complete(true);
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  const std::string whole = Bytes(Path("p"));
  const std::string end = whole.substr(whole.size() - 6);
  const absl::Status status =
      ReadMemoryProfileFile(Put("q", lower.SerializeAsString() + end)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()), HasSubstr("checksum"));
}

TEST_F(MemoryProfileFileTest, AnOldFileIsToBeMeasuredAgain) {
  MemoryProfile profile = ExampleProfile();
  profile.set_complete(true);
  const absl::Status status =
      ReadMemoryProfileFile(Put("old", profile.SerializeAsString())).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("has no checksum"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("measure again"));
}

TEST_F(MemoryProfileFileTest, ReadsWhatItWrote) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(Path("p"));
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->SerializeAsString(), ExampleProfile().SerializeAsString());
  ASSERT_THAT(WriteMemorySamplesFile(ExampleSamples(), Path("s")), IsOk());
  absl::StatusOr<MemorySamples> samples = ReadMemorySamplesFile(Path("s"));
  ASSERT_THAT(samples, IsOk());
  EXPECT_EQ(samples->SerializeAsString(), ExampleSamples().SerializeAsString());
}

TEST_F(MemoryProfileFileTest, ReadsAFailureRecord) {
  MemoryProfile profile;
  profile.mutable_failure()->set_kind(ProducerFailure::SIGNALLED);
  profile.mutable_failure()->set_signal_number(9);
  ASSERT_THAT(WriteMemoryProfileFile(profile, Path("p")), IsOk());
  absl::StatusOr<MemoryProfile> read = ReadMemoryProfileFile(Path("p"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->failure().signal_number(), 9);
}

TEST_F(MemoryProfileFileTest, EqualMessagesGiveEqualBytes) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("a")), IsOk());
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("b")), IsOk());
  EXPECT_EQ(Bytes(Path("a")), Bytes(Path("b")));
}

TEST_F(MemoryProfileFileTest, MissingFileIsNotFound) {
  const absl::Status status = ReadMemoryProfileFile(Path("none")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("none")));
}

TEST_F(MemoryProfileFileTest, EmptyFileIsDataLoss) {
  EXPECT_THAT(ReadMemoryProfileFile(Put("p", "")),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(MemoryProfileFileTest, RefusesForeignFiles) {
  const std::string foreign[] = {
      "schema_version: 1\nlabel: \"//a:b\"\n",
      "{\"schema_version\": 1}",
      std::string("PK\x03\x04\x14\x00\x08\x00", 8),
      std::string("\x7f"
                  "ELF\x02\x01\x01\x00",
                  8),
      std::string(1000, '\0'),
      std::string(1000, '\xff'),
  };
  for (const std::string& bytes : foreign) {
    const absl::Status status = ReadMemoryProfileFile(Put("f", bytes)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("not a memory profile"));
  }
}

TEST_F(MemoryProfileFileTest, TakesNeitherFileForTheOther) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  ASSERT_THAT(WriteMemorySamplesFile(ExampleSamples(), Path("s")), IsOk());
  EXPECT_THAT(ReadMemoryProfileFile(Path("s")), Not(IsOk()));
  EXPECT_THAT(ReadMemorySamplesFile(Path("p")), Not(IsOk()));
}

TEST_F(MemoryProfileFileTest, RefusesEveryTruncation) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  ASSERT_THAT(WriteMemorySamplesFile(ExampleSamples(), Path("s")), IsOk());
  const std::string profile = Bytes(Path("p"));
  for (size_t size = 0; size < profile.size(); ++size) {
    EXPECT_THAT(ReadMemoryProfileFile(Put("t", profile.substr(0, size))),
                Not(IsOk()))
        << size << " of " << profile.size() << " bytes";
  }
  const std::string samples = Bytes(Path("s"));
  for (size_t size = 0; size < samples.size(); ++size) {
    EXPECT_THAT(ReadMemorySamplesFile(Put("t", samples.substr(0, size))),
                Not(IsOk()))
        << size << " of " << samples.size() << " bytes";
  }
}

TEST_F(MemoryProfileFileTest, RefusesANewerSchemaAndSaysSo) {
  MemoryProfile profile = ExampleProfile();
  profile.set_schema_version(kMemoryProfileSchemaVersion + 1);
  // The profile has an unknown field, as of a later version.
  profile.GetReflection()->MutableUnknownFields(&profile)->AddVarint(99, 1);
  for (const std::string& bytes :
       {profile.SerializeAsString(), WriteToString(profile)}) {
    const absl::Status status = ReadMemoryProfileFile(Put("p", bytes)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()), HasSubstr("schema version 2"));
  }
}

TEST_F(MemoryProfileFileTest, RefusesUnknownFieldsAtAnyDepth) {
  MemoryProfile profile = ExampleProfile();
  profile.set_complete(true);
  Metric* metric = profile.mutable_benchmarks(1)->mutable_metrics(0);
  metric->GetReflection()->MutableUnknownFields(metric)->AddVarint(77, 1);
  const absl::Status status =
      ReadMemoryProfileFile(Put("p", WriteToString(profile))).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("unknown field 77 in benchmarks[1].metrics[0]"));
}

TEST_F(MemoryProfileFileTest, RefusesUnknownAndUnsetEnumerators) {
  for (int kind : {0, 4711}) {
    MemoryProfile profile = ExampleProfile();
    profile.set_complete(true);
    profile.mutable_benchmarks(0)->mutable_metrics(1)->set_kind(
        static_cast<MetricKind>(kind));
    const absl::Status status =
        ReadMemoryProfileFile(Put("p", WriteToString(profile))).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(absl::StrCat("benchmarks[0].metrics[1].kind = ", kind)));
  }
}

TEST_F(MemoryProfileFileTest, NeitherReadsNorWritesInconsistentProfiles) {
  std::vector<MemoryProfile> profiles(10, ExampleProfile());
  profiles[0].mutable_benchmarks(1)->set_name(profiles[0].benchmarks(0).name());
  AddMetric(PEAK_LIVE_USABLE_BYTES, 1,
            profiles[1].mutable_benchmarks(0)->mutable_metrics());
  profiles[2].mutable_benchmarks(0)->mutable_metrics(0)->set_value(-1);
  profiles[3].mutable_benchmarks(0)->mutable_phases(1)->set_parent(1);
  profiles[4].clear_benchmarks();
  profiles[6].mutable_benchmarks(0)->mutable_phases(1)->set_name("loop");
  profiles[5].mutable_failure()->set_kind(ProducerFailure::TIMED_OUT);
  // A profile with one benchmark is also a failure.
  profiles[9].mutable_failure()->set_kind(ProducerFailure::TIMED_OUT);
  profiles[9].mutable_benchmarks()->RemoveLast();
  profiles[7].mutable_imported()->set_tool("massif");
  // Only a phase differs.
  profiles[8].mutable_imported()->set_tool("massif");
  for (BenchmarkMemory& benchmark : *profiles[8].mutable_benchmarks()) {
    for (Metric& metric : *benchmark.mutable_metrics()) {
      metric.set_determinism(STATISTICAL);
    }
  }
  for (MemoryProfile& profile : profiles) {
    EXPECT_THAT(WriteMemoryProfileFile(profile, Path("p")),
                StatusIs(absl::StatusCode::kInvalidArgument));
    profile.set_complete(true);
    EXPECT_THAT(ReadMemoryProfileFile(Put("q", WriteToString(profile))),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << profile.ShortDebugString();
  }
  EXPECT_THAT(FilesInFolder(), ElementsAre("q"));
}

// Random damage must neither crash the reader nor be accepted. If the checksum
// is made to fit, what is accepted is consistent: it can be written and read
// again.
TEST_F(MemoryProfileFileTest, SurvivesRandomDamage) {
  ASSERT_THAT(WriteMemoryProfileFile(ExampleProfile(), Path("p")), IsOk());
  const std::string file = Bytes(Path("p"));
  const std::string whole = file.substr(0, file.size() - 6);
  const std::string end = file.substr(whole.size());
  std::mt19937 random(20261121);
  int refused = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = Damage(whole, &random);
    if (bytes != whole) {
      ASSERT_THAT(ReadMemoryProfileFile(Put("damaged", bytes + end)),
                  Not(IsOk()))
          << round;
    }
    absl::StatusOr<MemoryProfile> profile =
        ReadMemoryProfileFile(Put("damaged", WithChecksum(bytes)));
    if (!profile.ok()) {
      ++refused;
      EXPECT_THAT(std::string(profile.status().message()),
                  HasSubstr(Path("damaged")));
      continue;
    }
    ASSERT_THAT(WriteMemoryProfileFile(*profile, Path("again")), IsOk());
    ASSERT_THAT(ReadMemoryProfileFile(Path("again")), IsOk());
  }
  EXPECT_GT(refused, kRounds / 2);
}

}  // namespace
}  // namespace footprint
