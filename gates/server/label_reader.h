// Reads the labels of bundles that were submitted, one bundle at a time, and
// keeps one submitter from taking all of that time.
//
//   LabelReader labels(read_label);
//   absl::StatusOr<std::string> label = labels.Read("ci", sha256, path);
//
// A reader may need a minute and 128 MiB for a hostile bundle. So at most three
// bundles of a submitter are read or wait. After a read that took longer than a
// second, the submitter waits three times as long before the next one, so that
// others have three quarters of the time. The labels of the last bundles are
// kept by their hash.
//
// Thread-safe. Memory: some 200 bytes for each of at most 1,000 bundles, and
// for each submitter. Time: that of the reads of the bundles that came earlier,
// at most three of each submitter, and of the bundle itself.

#ifndef FOOTPRINT_GATES_SERVER_LABEL_READER_H_
#define FOOTPRINT_GATES_SERVER_LABEL_READER_H_

#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class LabelReader {
 public:
  // Reads the label of the bundle at a path. InvalidArgument says that the
  // bundle is at fault, which does not change. The read ends soon after
  // `is_stopped` returns true.
  using ReadLabel = std::function<absl::StatusOr<std::string>(
      const std::string& path, const std::function<bool()>& is_stopped)>;

  // `now_seconds` is a clock for tests; if it is empty, the system's is used.
  explicit LabelReader(ReadLabel read_label,
                       std::function<double()> now_seconds = {});

  // Returns the label of the bundle with this hash. Returns Unavailable if
  // three bundles of this submitter are read or wait, if the submitter must
  // wait, or after Stop; else the errors of the function that reads.
  absl::StatusOr<std::string> Read(const std::string& submitter,
                                   const std::string& sha256,
                                   const std::string& path)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all reads soon, and makes later ones fail.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Submitter {
    int bundle_count = 0;  // that are read or wait
    double next_seconds = 0;
  };

  // Returns the label if it is known, or Unavailable if the submitter must not
  // read now; nullopt if it may.
  absl::optional<absl::StatusOr<std::string>> FindAnswer(
      const Submitter& submitter, const std::string& sha256)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets the next thread read, and notes how long the submitter must wait.
  void EndRead(const std::string& submitter, double begin_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const ReadLabel read_label_;
  const std::function<double()> now_seconds_;
  std::atomic<bool> is_stopped_{false};
  Mutex mutex_;
  CondVar changed_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Submitter> submitters_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::StatusOr<std::string>> labels_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_LABEL_READER_H_
