// Computes new texts of the threshold files of a workspace from its
// measurements.
//
//   WorkspaceUpdateRequest request;
//   request.workspace = "/home/me/project";
//   request.input = ReadGateInput("gate.manifest");
//   request.options.date = "2026-11-21";
//   absl::StatusOr<WorkspaceUpdate> update = PlanWorkspaceUpdate(request);
//   if (!update.ok()) return update.status();
//   return WriteUpdate(*update);  // or PrintDiff(*update)
//
// threshold_update.h says which numbers change, and threshold_edit.h how a text
// gets them. Nothing is written before the whole plan succeeds.
//
// The request is only read; the update owns its texts. Thread-compatible: two
// updates of one workspace must not run at the same time (the program takes a
// lock). Memory: the files twice, and the profiles. Time: that of
// threshold_update.h.

#ifndef FOOTPRINT_GATES_UPDATING_WORKSPACE_UPDATE_H_
#define FOOTPRINT_GATES_UPDATING_WORKSPACE_UPDATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/updating/threshold_update.h"

namespace footprint {

struct WorkspaceUpdateRequest {
  std::string workspace;  // its top folder, to which paths are relative
  // The profiles, and the paths of the threshold files, whose texts are read
  // again.
  GateInput input;
  UpdateOptions options;
  // Whether to record the numbers that were changed by hand, and change none.
  bool records = false;
  // Whether to add a threshold for each benchmark without one: to `added_path`,
  // or, if that is empty, to the only file that is possible.
  bool adds = false;
  std::string added_path;
  // Whether the gate already names `added_path`, so that it reads the file once
  // it exists.
  bool is_added_path_named = false;
  // The file of a new environment to write or extend; empty for none.
  std::string environment_path;
};

struct WorkspaceUpdate {
  struct File {
    std::string path;          // as in the request
    std::string written_path;  // its place in the file system
    std::string text;
    std::string edited;
  };
  std::vector<File> files;
  // Changes, and thresholds that stay as they are, as lines for people.
  std::vector<std::string> descriptions;
  std::vector<std::string> refusals;
};

// Reads the files and plans the update. Returns kInvalidArgument for problems
// of the input (one a line) or of the request, kNotFound if the request names
// nothing, and the errors of whole_file.h and EditThresholds.
absl::StatusOr<WorkspaceUpdate> PlanWorkspaceUpdate(
    const WorkspaceUpdateRequest& request);

// Replaces the files that change, each atomically. Fails as whole_file.h says.
absl::Status WriteUpdate(const WorkspaceUpdate& update);

// Prints how the files would change, with the program `diff`. Returns
// kUnavailable if there is no `diff`, and the errors of ReplaceFile if no
// temporary file can be written.
absl::Status PrintDiff(const WorkspaceUpdate& update);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_WORKSPACE_UPDATE_H_
