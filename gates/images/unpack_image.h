// Unpacks the layers of a container image, one over the other, into a folder
// that becomes the root of a sandbox.
//
//   absl::Status status = UnpackImage(layout, *image, "/var/trials/17/image",
//                                     /*owner=*/65534, limits, end);
//
// Layers are tar archives, plain or compressed by gzip or zstd. Size and hash
// of each are checked before it is read, and the hash of its unpacked bytes at
// its end. `.wh.NAME` removes NAME of lower layers, and `.wh..wh..opq` all that
// lower layers have in its folder, wherever these entries stand in the layer.
//
// Nothing is written outside of the folder, and no link is followed: an entry
// behind a link is refused, unless it is a whiteout, which then hides nothing.
// Symbolic links are kept as they are, whatever they lead to; the sandbox's
// root ends there. A name that is absolute is below the root. Refused are names
// with "..", hard links to something else than a file or link of the image, and
// devices and pipes, except in dev and run, where they are left out: the
// sandbox has a /dev of its own. Set-user-ID bits, owners, modes but the
// executable one, extended attributes and times are dropped; all files belong
// to the program's user.
//
// The folders dev, proc and tmp, on which the sandbox mounts its own, are made,
// and so is the image's working folder. After an error the folder is removed.
//
// Thread-safe; keeps nothing. The caller owns the files. Memory: 1 MiB, the
// name of each file of the largest layer and 100 bytes, and zstd's window of at
// most 128 MiB. Time: linear, some 10 seconds for each GB. Errors:
// kInvalidArgument, with layer and name, if the image is at fault;
// kResourceExhausted if it exceeds a limit; kAborted if this host has no room;
// kCancelled if `limits.is_stopped` returned true; else FileError's.

#ifndef FOOTPRINT_GATES_IMAGES_UNPACK_IMAGE_H_
#define FOOTPRINT_GATES_IMAGES_UNPACK_IMAGE_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_layout.h"

namespace footprint {

// Unpacks into `folder`, which must not exist and is made. `limits` count for
// all layers together, but most_expansion for each.
absl::Status UnpackImage(const ImageLayout& layout, const Image& image,
                         const std::string& folder, uid_t owner,
                         const BundleLimits& limits, SteadyTime end);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_UNPACK_IMAGE_H_
