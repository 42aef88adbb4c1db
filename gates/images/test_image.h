// Container images for tests, byte by byte, as an adversary writes them.
//
//   TestImage image;
//   image.layers = {{UstarEntry("bin/run", '0', "x", "", 0755) + TarEnd()}};
//   TestImageFiles files = FilesOf(image);
//   files.files.erase("oci-layout");                  // a fault
//   std::string path = WriteImageFolder("broken", files.files);
//
// Files stay in the test's own folder. Thread-safe for different names. Memory:
// the image's bytes, a few times.

#ifndef FOOTPRINT_GATES_IMAGES_TEST_IMAGE_H_
#define FOOTPRINT_GATES_IMAGES_TEST_IMAGE_H_

#include <map>
#include <string>
#include <vector>

namespace footprint {

struct TestLayer {
  std::string bytes;  // as unpacked
  // The blob if it is not `bytes`, such as the compressed bytes.
  std::string packed = "";
  std::string media_type = "application/vnd.oci.image.layer.v1.tar";
  std::string diff_id = "";  // 64 digits; empty: those of `bytes`
};

struct TestImage {
  std::vector<TestLayer> layers;
  // The members of the config's "config".
  std::string settings = R"("Entrypoint":["/bin/run"])";
  // Empty: this machine's.
  std::string architecture = "";
};

struct TestImageFiles {
  std::map<std::string, std::string> files;
  std::string manifest_sha256;
  // The index's entry for the manifest.
  std::string descriptor;
};

// Returns this machine's architecture as images name it.
std::string TestArchitecture();

// Adds a blob, and returns its descriptor. `more` is put into it, and begins
// with a comma.
std::string AddTestBlob(const std::string& bytes, const std::string& media_type,
                        const std::string& more, TestImageFiles* files);

// Returns the text of an index of these descriptors.
std::string TestIndex(const std::vector<std::string>& descriptors);

// Returns the files of the image's layout.
TestImageFiles FilesOf(const TestImage& image);

// Writes a layout as a folder of this name, or as an archive. Return the path.
std::string WriteImageFolder(const std::string& name,
                             const std::map<std::string, std::string>& files);
std::string WriteImageArchive(const std::string& name,
                              const std::map<std::string, std::string>& files);

// Returns a line for each file, folder and link below the folder, sorted: "bin
// d", "bin/python l python3", and for a file "bin/run f x 1 BYTES", with "-" in
// place of "x" if it is not executable, and its number of names.
std::vector<std::string> ListFolder(const std::string& folder);

}  // namespace footprint

// Tested by image_layout_test.

#endif  // FOOTPRINT_GATES_IMAGES_TEST_IMAGE_H_
