#include "footprint/gates/bundles/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr char kManifest[] =
    "schema_version: 1 kind: NATIVE_PROGRAM entry: \"bin/run\" data: \"data\" "
    "budget_bytes: 1000000\n";

// One entry of an archive as an adversary writes it.
struct Entry {
  std::string name;
  std::string bytes;
  int type = AE_IFREG;
  int mode = 0644;
  std::string link = "";
  bool is_hard_link = false;
};

const Entry kManifestEntry = {kManifestName, kManifest};
const Entry kRunEntry = {"bin/run", "#!/bin/sh\n", AE_IFREG, 0755};
const Entry kDataEntry = {"data/table.csv", "1,2\n"};

std::string WriteArchive(const std::vector<Entry>& entries,
                         bool is_compressed = false) {
  static int count = 0;
  const std::string path = TestPath(absl::StrCat("archive", ++count));
  archive* const writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_set_options(writer, "hdrcharset=BINARY");
  if (is_compressed) archive_write_add_filter_zstd(writer);
  EXPECT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
  for (const Entry& each : entries) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, each.name.c_str());
    archive_entry_set_filetype(entry, each.type);
    archive_entry_set_perm(entry, each.mode);
    if (each.is_hard_link) {
      archive_entry_set_hardlink(entry, each.link.c_str());
    } else if (!each.link.empty()) {
      archive_entry_set_symlink(entry, each.link.c_str());
    }
    archive_entry_set_size(entry, each.bytes.size());
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, each.bytes.data(), each.bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return path;
}

std::string Target() {
  static int count = 0;
  return TestPath(absl::StrCat("unpacked", ++count));
}

// Expects that reading and unpacking refuse the archive for the same reason,
// and that no file stays.
void ExpectRefused(const std::vector<Entry>& entries, absl::StatusCode code,
                   const std::string& text,
                   const BundleLimits& limits = BundleLimits()) {
  const std::string path = WriteArchive(entries);
  EXPECT_THAT(ReadBundle(path, limits), StatusIs(code, HasSubstr(text)));
  const std::string folder = Target();
  EXPECT_THAT(UnpackBundle(path, folder, limits),
              StatusIs(code, HasSubstr(text)));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

void ExpectInvalid(const Entry& entry, const std::string& text) {
  ExpectRefused({kManifestEntry, kRunEntry, kDataEntry, entry},
                absl::StatusCode::kInvalidArgument, text);
}

std::string MakeTestFolder(const std::string& name) {
  const std::string folder = TestPath(name);
  std::filesystem::create_directories(folder + "/bin");
  std::filesystem::create_directories(folder + "/data");
  WriteTestFile(name + "/bundle.textproto", kManifest);
  WriteTestFile(name + "/bin/run", "#!/bin/sh\necho hello\n");
  chmod((folder + "/bin/run").c_str(), 0777);
  WriteTestFile(name + "/data/table.csv", "1,2\n3,4\n");
  WriteTestFile(name +
                    "/data/gr\xc3\xb6\xc3\x9f"
                    "e",
                "5");
  return folder;
}

std::string WithBytes(const std::string& path, const std::string& bytes) {
  static int count = 0;
  return WriteTestFile(absl::StrCat("changed", ++count),
                       ReadTestFile(path) + bytes);
}

TEST(BundleTest, BytesBehindTheEndAreRefused) {
  const std::vector<Entry> entries = {kManifestEntry, kRunEntry, kDataEntry};
  for (const bool is_compressed : {false, true}) {
    const std::string path = WriteArchive(entries, is_compressed);
    ASSERT_THAT(ReadBundle(path, BundleLimits()), IsOk());
    // Another reader might read bytes after the end as a second archive.
    for (const std::string& more :
         {std::string("x"), std::string(512, 'x'), ReadTestFile(path)}) {
      EXPECT_THAT(ReadBundle(WithBytes(path, more), BundleLimits()),
                  StatusIs(absl::StatusCode::kInvalidArgument))
          << is_compressed << " " << more.size();
    }
  }
  // tar fills its last record with zeros.
  const std::string plain = WriteArchive(entries);
  EXPECT_THAT(
      ReadBundle(WithBytes(plain, std::string(8192, 0)), BundleLimits()),
      IsOk());
  EXPECT_THAT(
      ReadBundle(WithBytes(plain, std::string(2 << 20, 0)), BundleLimits()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("behind")));
}

TEST(BundleTest, AnArchiveThatIsCutAnywhereIsRefused) {
  const std::vector<Entry> entries = {kManifestEntry, kRunEntry, kDataEntry};
  for (const bool is_compressed : {false, true}) {
    const std::string whole =
        ReadTestFile(WriteArchive(entries, is_compressed));
    // A plain archive is padded to a record, so only the bytes up to its end
    // mark count.
    const size_t end =
        is_compressed ? whole.size() : whole.find_last_not_of('\0') + 512;
    for (size_t size = 0; size < end; size += is_compressed ? 1 : 256) {
      const std::string path = WriteTestFile("cut", whole.substr(0, size));
      EXPECT_THAT(ReadBundle(path, BundleLimits()),
                  StatusIs(absl::StatusCode::kInvalidArgument))
          << is_compressed << " " << size;
    }
  }
}

TEST(BundleTest, FoldersThatOnlyNamesTellOfCount) {
  BundleLimits limits;
  limits.entries = 100;
  std::vector<Entry> entries = {kManifestEntry, kRunEntry, kDataEntry};
  for (int i = 0; i < 10; ++i) {
    std::string name;
    for (int depth = 0; depth < 20; ++depth) {
      absl::StrAppend(&name, "d", i, "-", depth, "/");
    }
    entries.push_back({name + "f", "x"});
  }
  ExpectRefused(entries, absl::StatusCode::kResourceExhausted,
                "more than 100 files and folders", limits);
  limits.entries = 300;
  EXPECT_THAT(ReadBundle(WriteArchive(entries), limits), IsOk());
}

TEST(BundleTest, LimitsGrowWithTheArchive) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  const BundleLimits usual;
  for (const int64_t bytes : {int64_t{0}, int64_t{1000}, kGiB}) {
    const BundleLimits limits = LimitsOfArchive(bytes);
    EXPECT_EQ(limits.archive_bytes, bytes);
    EXPECT_EQ(limits.unpacked_bytes, usual.unpacked_bytes);
    EXPECT_EQ(limits.seconds, usual.seconds);
  }
  EXPECT_EQ(LimitsOfArchive(kGiB + 1).unpacked_bytes, 8 * kGiB);
  EXPECT_EQ(LimitsOfArchive(10 * kGiB).unpacked_bytes, 40 * kGiB);
  EXPECT_EQ(LimitsOfArchive(10 * kGiB).seconds, 10 * usual.seconds);
  EXPECT_EQ(LimitsOfArchive(10 * kGiB).entries, usual.entries);
  const BundleLimits largest = LimitsOfArchive(INT64_MAX);
  EXPECT_GT(largest.unpacked_bytes, int64_t{1} << 50);
  EXPECT_GT(largest.seconds, 1 << 30);
}

TEST(BundleTest, UnpackingEndsWhenItIsTold) {
  const std::string path =
      WriteArchive({kManifestEntry, kRunEntry, kDataEntry});
  BundleLimits limits;
  int asked_count = 0;
  limits.is_stopped = [&asked_count] { return ++asked_count == 3; };
  const std::string folder = Target();
  EXPECT_THAT(UnpackBundle(path, folder, limits),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(asked_count, 3);
  EXPECT_FALSE(std::filesystem::exists(folder));
  limits.is_stopped = nullptr;
  limits.seconds = -1;
  EXPECT_THAT(UnpackBundle(path, folder, limits),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("does not unpack in")));
}

TEST(BundleTest, AManifestThatIsNotUtf8IsRefused) {
  const std::string begin =
      "schema_version: 1 kind: NATIVE_PROGRAM entry: \"run\" ";
  EXPECT_THAT(ParseManifest(begin + "label: \"//gr\xc3\xb6\xc3\x9f\""), IsOk());
  // The bad byte is in the file itself, or is an escape.
  for (const char* text :
       {"label: \"//gr\xf6\"", "label: \"//gr\\366\"", "arguments: \"\\377\"",
        "device: \"\\300\"", "data: \"\\200\""}) {
    EXPECT_THAT(
        ParseManifest(begin + text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not UTF-8")))
        << text;
  }
}

TEST(BundleTest, FolderComesBack) {
  const std::string folder = MakeTestFolder("there");
  const std::string path = TestPath("there.bundle");
  ASSERT_THAT(MakeBundle(folder, path), IsOk());
  const std::string back = Target();
  const absl::StatusOr<BundleManifest> manifest =
      UnpackBundle(path, back, BundleLimits());
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->entry(), "bin/run");
  EXPECT_EQ(manifest->budget_bytes(), 1000000);
  EXPECT_EQ(ReadTestFile(back + "/data/table.csv"), "1,2\n3,4\n");
  EXPECT_EQ(ReadTestFile(back + "/data/gr\xc3\xb6\xc3\x9f"
                                "e"),
            "5");
  struct stat about = {};
  ASSERT_EQ(stat((back + "/bin/run").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0755u);
}

TEST(BundleTest, SameFolderGivesSameBytes) {
  const std::string first = MakeTestFolder("first");
  ASSERT_THAT(MakeBundle(first, TestPath("first.bundle")), IsOk());
  const std::string second = MakeTestFolder("second");
  // The second folder's file is newer, was made in another order, and has
  // another mode.
  std::filesystem::remove(second + "/data/table.csv");
  WriteTestFile("second/data/table.csv", "1,2\n3,4\n");
  chmod((second + "/data/table.csv").c_str(), 0600);
  ASSERT_THAT(MakeBundle(second, TestPath("second.bundle")), IsOk());
  EXPECT_EQ(ReadTestFile(TestPath("first.bundle")),
            ReadTestFile(TestPath("second.bundle")));
}

TEST(BundleTest, AFolderBeyondTheLimitsIsRefusedBeforeItIsPacked) {
  const std::string folder = MakeTestFolder("large");
  const std::string path = TestPath("large.bundle");
  int64_t all_bytes = 0;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!each.is_directory()) {
      all_bytes += static_cast<int64_t>(each.file_size());
    }
  }
  PackingOptions options;
  options.report_bytes = [](int64_t, int64_t) { FAIL() << "it is packed"; };
  options.limits.unpacked_bytes = all_bytes - 1;
  EXPECT_THAT(
      MakeBundle(folder, path, options),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr(absl::StrCat("large: its files have ", all_bytes,
                                      " B, of which bundle.textproto has "))));
  options.limits = BundleLimits();
  options.limits.entries = 3;
  EXPECT_THAT(MakeBundle(folder, path, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("more than 3 files")));
  options.limits = BundleLimits();
  options.limits.is_stopped = [] { return true; };
  EXPECT_THAT(MakeBundle(folder, path, options),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(std::filesystem::exists(path));
  options.limits = BundleLimits();
  options.limits.unpacked_bytes = all_bytes;
  int64_t packed_bytes = 0;
  options.report_bytes = [&](int64_t packed, int64_t all) {
    EXPECT_LT(packed_bytes, packed);
    packed_bytes = packed;
    EXPECT_EQ(all, all_bytes);
  };
  EXPECT_THAT(MakeBundle(folder, path, options), IsOk());
  EXPECT_EQ(packed_bytes, all_bytes);
}

// Random bytes do not get smaller.
TEST(BundleTest, AnArchiveBeyondTheLimitIsNotCompleted) {
  const std::string folder = MakeTestFolder("wide");
  RandomSequence random(1);
  std::string bytes(4 << 20, '\0');
  for (char& each : bytes) each = static_cast<char>(random.Below(256));
  WriteTestFile("wide/data/random", bytes);
  const std::string path = TestPath("wide.bundle");
  PackingOptions options;
  options.limits.archive_bytes = 1 << 20;
  int64_t packed_bytes = 0;
  options.report_bytes = [&](int64_t packed, int64_t) {
    packed_bytes = packed;
  };
  EXPECT_THAT(MakeBundle(folder, path, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("larger than 1.00 MiB")));
  EXPECT_LT(packed_bytes, 3 << 20);
  EXPECT_FALSE(std::filesystem::exists(path));
  int stops = 0;
  options.limits = BundleLimits();
  options.limits.is_stopped = [&] { return ++stops > 10; };
  EXPECT_THAT(MakeBundle(folder, path, options),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(BundleTest, LinkInFolderIsAnError) {
  const std::string folder = MakeTestFolder("linked");
  ASSERT_EQ(symlink("/etc/passwd", (folder + "/data/link").c_str()), 0);
  EXPECT_THAT(MakeBundle(folder, TestPath("linked.bundle")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("link")));
}

TEST(BundleTest, NamesThatLeaveTheFolderAreRefused) {
  ExpectInvalid({"/etc/x", "a"}, "relative");
  ExpectInvalid({"../x", "a"}, "'..'");
  ExpectInvalid({"data/../../x", "a"}, "'..'");
  ExpectInvalid({"data//x", "a"}, "''");
  ExpectInvalid({"a\nb", "a"}, "control character");
  ExpectInvalid({"data/..", "", AE_IFDIR, 0755}, "'..'");
}

TEST(BundleTest, OnlyFilesAndFoldersAreTaken) {
  ExpectInvalid({"link", "", AE_IFLNK, 0777, "/etc/passwd"},
                "is not a file or folder");
  ExpectInvalid({"link", "", AE_IFREG, 0644, "bin/run", true},
                "is not a file or folder");
  ExpectInvalid({"pipe", "", AE_IFIFO}, "is not a file or folder");
  ExpectInvalid({"null", "", AE_IFCHR, 0666}, "is not a file or folder");
  ExpectInvalid({"disk", "", AE_IFBLK, 0666}, "is not a file or folder");
}

TEST(BundleTest, NamesComeOnce) {
  ExpectInvalid({"bin/run", "other"}, "twice");
  ExpectInvalid({"bin/run/below", "other"}, "twice");
  ExpectInvalid({"bin", "other"}, "twice");
  ExpectInvalid({kManifestName, kManifest}, "twice");
  ExpectInvalid({"./bin/run", "other"}, "twice");
}

TEST(BundleTest, SetUserBitIsDropped) {
  const std::string path = WriteArchive(
      {kManifestEntry, kDataEntry, {"bin/run", "x", AE_IFREG, 06755}});
  const std::string folder = Target();
  ASSERT_THAT(UnpackBundle(path, folder, BundleLimits()), IsOk());
  struct stat about = {};
  ASSERT_EQ(stat((folder + "/bin/run").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0755u);
}

TEST(BundleTest, LimitsHold) {
  BundleLimits limits;
  limits.entries = 3;
  ExpectRefused({kManifestEntry, kRunEntry, kDataEntry, {"x", "a"}},
                absl::StatusCode::kResourceExhausted, "3 files and folders",
                limits);
  limits = BundleLimits();
  limits.unpacked_bytes = 1000;
  ExpectRefused(
      {kManifestEntry, kRunEntry, kDataEntry, {"x", std::string(1000, 'a')}},
      absl::StatusCode::kResourceExhausted, "'x'", limits);
  limits = BundleLimits();
  limits.archive_bytes = 100;
  ExpectRefused({kManifestEntry, kRunEntry, kDataEntry},
                absl::StatusCode::kResourceExhausted,
                "100 is the most (--most_bundle); leave out what", limits);
  limits = BundleLimits();
  limits.path_depth = 2;
  ExpectRefused({kManifestEntry, kRunEntry, kDataEntry, {"a/b/c", "a"}},
                absl::StatusCode::kInvalidArgument, "deep", limits);
}

TEST(BundleTest, BombIsRefusedBeforeItIsUnpacked) {
  const std::string path =
      WriteArchive({kManifestEntry,
                    kRunEntry,
                    kDataEntry,
                    {"zeros", std::string(size_t{64} << 20, '\0')}},
                   true);
  EXPECT_LT(std::filesystem::file_size(path), 100000u);
  EXPECT_THAT(
      ReadBundle(path, BundleLimits()),
      StatusIs(absl::StatusCode::kResourceExhausted,
               testing::AllOf(
                   HasSubstr("'zeros'"),
                   HasSubstr("an archive may unpack to 4.00 GiB"),
                   HasSubstr("and to 200 times its size: leave out what"))));
}

TEST(BundleTest, HalfAnUploadIsRefused) {
  std::string noise;
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&noise, i * i);
  for (const bool is_compressed : {false, true}) {
    const std::string path = WriteArchive(
        {kManifestEntry, kRunEntry, kDataEntry, {"zz", noise}}, is_compressed);
    ASSERT_THAT(ReadBundle(path, BundleLimits()), IsOk());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_THAT(ReadBundle(path, BundleLimits()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("cannot be read")));
  }
}

TEST(BundleTest, WhatIsCutInAFileNamesIt) {
  const std::string path = WriteArchive(
      {kManifestEntry, kRunEntry, kDataEntry, {"zz", std::string(50000, 'z')}});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(ReadBundle(path, BundleLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the bundle cannot be read at 'zz': ")));
}

TEST(BundleTest, AManifestHasAtMost64Kibibytes) {
  const std::string comment = "#" + std::string(64 * 1024, 'x') + "\n";
  ExpectRefused({{kManifestName, comment + kManifest}, kRunEntry, kDataEntry},
                absl::StatusCode::kInvalidArgument,
                "bundle.textproto has more than 64 KiB");
}

TEST(BundleTest, OtherFilesAreRefused) {
  EXPECT_THAT(ReadBundle(WriteTestFile("empty", ""), BundleLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadBundle(WriteTestFile("text", "hello"), BundleLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadBundle(TestPath(""), BundleLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadBundle(TestPath("missing"), BundleLimits()),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(BundleTest, ManifestMustBeThereAndNameFiles) {
  ExpectRefused({kRunEntry, kDataEntry}, absl::StatusCode::kInvalidArgument,
                "no bundle.textproto");
  ExpectRefused({kManifestEntry, kDataEntry},
                absl::StatusCode::kInvalidArgument, "entry 'bin/run'");
  ExpectRefused({kManifestEntry, kRunEntry}, absl::StatusCode::kInvalidArgument,
                "data 'data'");
  ExpectRefused({{kManifestName, "entry: 1\nhello"}, kRunEntry},
                absl::StatusCode::kInvalidArgument, "bundle.textproto:1:8");
}

TEST(BundleTest, ManifestWithoutSenseIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "schema_version"},
      {"schema_version: 2", "schema_version is 2"},
      {"schema_version: 1", "kind"},
      {"schema_version: 1 kind: NATIVE_PROGRAM", "entry is missing"},
      {"schema_version: 1 kind: NATIVE_PROGRAM entry: \"/bin/sh\"", "relative"},
      {"schema_version: 1 kind: NATIVE_PROGRAM entry: \"../x\"", "'..'"},
      {"schema_version: 1 kind: NATIVE_PROGRAM entry: \"x\" budget_bytes: -1",
       "below zero"},
      {"schema_version: 1 kind: NATIVE_PROGRAM entry: \"x\" "
       "time_limit_seconds: 100000",
       "time_limit_seconds"},
      {"schema_version: 1 kind: NATIVE_PROGRAM entry: \"x\" "
       "arguments: \"a\\0b\"",
       "zero byte"},
      {"bad: 1", "bad"},
  };
  for (const auto& [text, problem] : cases) {
    EXPECT_THAT(
        ParseManifest(text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(problem)))
        << text;
  }
}

// gates/server/README.md shows this manifest.
TEST(BundleTest, TheManifestOfTheReadmeIsOne) {
  const absl::StatusOr<std::string> text =
      ReadWholeFile("gates/bundles/testdata/bundle.textproto", 4096);
  ASSERT_THAT(text, IsOk());
  const absl::StatusOr<BundleManifest> manifest = ParseManifest(*text);
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->entry(), "fit.py");
  EXPECT_EQ(manifest->budget_bytes(), 200 << 20);
  EXPECT_EQ(manifest->time_limit_seconds(), 30);
}

}  // namespace
}  // namespace footprint
