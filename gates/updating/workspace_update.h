// New texts for the threshold files of a workspace, for what was measured.
//
//   WorkspaceUpdateRequest request;
//   request.workspace = "/home/me/project";
//   request.input = ReadGateInput("gate.manifest");
//   request.options.date = "2026-11-21";
//   absl::StatusOr<WorkspaceUpdate> update = PlanWorkspaceUpdate(request);
//   if (!update.ok()) return update.status();
//   return WriteUpdate(*update);  // or PrintDiff(*update)
//
// Which numbers change is said in threshold_update.h, and how they are put into
// a text in threshold_edit.h. Nothing is written before all is known to fit.
//
// The request is only read; the update owns its texts. Thread-compatible: two
// updates of one workspace must not run at a time (the program takes a lock).
// Memory: the files twice, and the profiles. Time: as threshold_update.h.

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
  std::string workspace;  // its top; paths of threshold files begin there
  // The profiles, and the names of threshold files; their texts are read anew.
  GateInput input;
  UpdateOptions options;
  // Write down what was changed by hand, and change no number.
  bool records = false;
  // Add a threshold for each benchmark without one: to `added_path`, or, if
  // that is empty, to the file that is the only choice.
  bool adds = false;
  std::string added_path;
  // The gate judges by `added_path` once it is there, without being told.
  bool is_added_path_named = false;
  // The file of a new environment, to write or extend; empty: none.
  std::string environment_path;
};

struct WorkspaceUpdate {
  struct File {
    std::string path;          // as of the request
    std::string written_path;  // where it lies
    std::string text;
    std::string edited;
  };
  std::vector<File> files;
  // Changes, and thresholds that were left as they are, for people.
  std::vector<std::string> descriptions;
  std::vector<std::string> refusals;
};

// Reads the files. kInvalidArgument for a problem of the input (each in a line)
// or of what was asked for, kNotFound if that names nothing, and as of
// whole_file.h.
absl::StatusOr<WorkspaceUpdate> PlanWorkspaceUpdate(
    const WorkspaceUpdateRequest& request);

// Replaces the files that change, each in one step. As of whole_file.h.
absl::Status WriteUpdate(const WorkspaceUpdate& update);

// Prints how the files would change, by the program `diff`; kUnavailable
// without it.
absl::Status PrintDiff(const WorkspaceUpdate& update);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_WORKSPACE_UPDATE_H_
