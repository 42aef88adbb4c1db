// Tar archives for tests, byte by byte, as an adversary writes them.
//
//   const std::string layer = UstarEntry("../etc/passwd", '0', "root::") +
//                             UstarEntry("link", '2', "", "/etc") + TarEnd();
//
// Pure functions; thread-safe. The caller owns the bytes.

#ifndef FOOTPRINT_GATES_BUNDLES_TEST_TAR_H_
#define FOOTPRINT_GATES_BUNDLES_TEST_TAR_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace footprint {

inline constexpr size_t kTestTarBlockBytes = 512;

inline std::string OctalDigits(uint64_t value, size_t digits) {
  std::string text(digits, '0');
  for (size_t i = digits; i > 0; --i, value /= 8) {
    text[i - 1] = static_cast<char>('0' + value % 8);
  }
  return text;
}

// Returns a header of ustar (POSIX.1-1988) and the bytes. The types: '0' file,
// '1' hard link, '2' symbolic link, '3' and '4' devices, '5' folder, '6' pipe,
// 'x' a pax header of the next entry.
inline std::string UstarEntry(const std::string& name, char type,
                              const std::string& bytes = "",
                              const std::string& link = "",
                              uint64_t mode = 0644) {
  std::string header(kTestTarBlockBytes, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, OctalDigits(mode, 7));
  header.replace(108, 7, OctalDigits(0, 7));
  header.replace(116, 7, OctalDigits(0, 7));
  header.replace(124, 11, OctalDigits(bytes.size(), 11));
  header.replace(136, 11, OctalDigits(0, 11));
  header.replace(148, 8, "        ");
  header[156] = type;
  header.replace(157, link.size(), link);
  header.replace(257, 8, std::string("ustar\00000", 8));
  uint64_t sum = 0;
  for (const char each : header) sum += static_cast<unsigned char>(each);
  header.replace(148, 8, OctalDigits(sum, 6) + std::string("\0 ", 2));
  std::string body = bytes;
  body.resize((body.size() + kTestTarBlockBytes - 1) / kTestTarBlockBytes *
              kTestTarBlockBytes);
  return header + body;
}

// Returns a pax header, which gives the next entry "KEY=VALUE".
inline std::string PaxHeader(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  size_t size = rest.size() + 1;
  while (std::to_string(size).size() + rest.size() != size) ++size;
  return UstarEntry("pax", 'x', std::to_string(size) + rest);
}

// Returns the mark of the end.
inline std::string TarEnd() { return std::string(2 * kTestTarBlockBytes, 0); }

// Returns the bytes as gzip or zstd compresses them.
std::string GzipOf(const std::string& bytes);
std::string ZstdOf(const std::string& bytes);

}  // namespace footprint

// Tested by tar_reader_test.

#endif  // FOOTPRINT_GATES_BUNDLES_TEST_TAR_H_
