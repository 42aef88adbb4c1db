// Reads the label of a bundle before there is a trial, for a server in which
// labels have owners.
//
//   absl::StatusOr<std::string> label = ReadBundleLabel("model.bundle", 1 <<
//   30, {});
//   // "//A:fit", or a label made of its entry
//
// The archive of a bundle is read to its end, since a bundle with a second
// manifest is refused as a whole. Of an image only the documents are read.
// label_reader.h keeps submitters from taking too much of that time.
//
// Thread-safe; keeps nothing. Memory and time: those of ReadBundleOrImage
// (bundle_or_image.h), at most a minute. Errors:
// kInvalidArgument if the bundle is at fault, so that a trial cannot run it;
// kPermissionDenied if it exceeds a limit, for instance of time, since a trial
// might still run it; kUnavailable if this host has no room; kCancelled if
// `is_stopped` returned true; else those of ReadBundleOrImage.

#ifndef FOOTPRINT_GATES_TRIALS_BUNDLE_LABEL_H_
#define FOOTPRINT_GATES_TRIALS_BUNDLE_LABEL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace footprint {

// `most_archive_bytes` is that of the trial's request. `is_stopped` is called
// often while the archive is read, and may be empty.
absl::StatusOr<std::string> ReadBundleLabel(
    const std::string& path, int64_t most_archive_bytes,
    const std::function<bool()>& is_stopped);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_BUNDLE_LABEL_H_
