#include "footprint/gates/fleet/fleet_file.h"

#include <cstdint>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/base/text/text_format_errors.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

using ::google::protobuf::TextFormat;

class ProblemCollector : public TextFormatErrors {
 public:
  explicit ProblemCollector(FleetSource* source) : source_(source) {}

  // Line and column count from 0; a negative line stands for the whole file.
  void Add(int line, int column, const std::string& message) override {
    source_->problems.push_back(
        line < 0 ? absl::StrCat(source_->path, ": ", message)
                 : absl::StrCat(source_->path, ":", line + 1, ":", column + 1,
                                ": ", message));
  }

 private:
  FleetSource* source_;
};

class FleetChecker {
 public:
  FleetChecker(const Fleet& fleet, TextFormat::ParseInfoTree* locations,
               ProblemCollector* problems)
      : fleet_(fleet), locations_(locations), problems_(problems) {}

  void Run() {
    if (fleet_.schema_version() != kFleetSchemaVersion) {
      problems_->Add(
          -1, 0,
          absl::StrCat("has schema version ", fleet_.schema_version(),
                       ", and this program reads ", kFleetSchemaVersion,
                       "; write schema_version: ", kFleetSchemaVersion));
    }
    if (fleet_.device_size() == 0) {
      problems_->Add(-1, 0,
                     "holds no device; add device { name: \"edge_box\" ram: "
                     "\"512MiB\" reserve: \"64MiB\" deployment: \"...\" }");
    }
    for (int i = 0; i < fleet_.deployment_size(); ++i) CheckDeployment(i);
    for (int i = 0; i < fleet_.device_size(); ++i) CheckDevice(i);
  }

 private:
  void Add(const char* field, int index, const std::string& message) {
    const auto location = locations_->GetLocation(
        Fleet::descriptor()->FindFieldByName(field), index);
    problems_->Add(location.line, location.column, message);
  }

  void CheckName(const char* field, int index, const std::string& name,
                 std::set<std::string>* names) {
    if (name.empty()) {
      Add(field, index, absl::StrCat(field, " has no name; give it one"));
    } else if (!names->insert(name).second) {
      Add(field, index,
          absl::StrCat(field, " \"", name, "\" is named twice; rename one"));
    }
  }

  void CheckDeployment(int index) {
    const Deployment& deployment = fleet_.deployment(index);
    CheckName("deployment", index, deployment.name(), &deployments_);
    if (!deployment.label().empty()) return;
    Add("deployment", index,
        absl::StrCat("deployment \"", deployment.name(),
                     "\" has no label; give that of its profile"));
  }

  // Returns the size; -1, with a problem, if it is malformed.
  int64_t ParseSize(int index, const char* what, const std::string& text) {
    const absl::StatusOr<int64_t> bytes = ParseBytes(text);
    if (bytes.ok()) return *bytes;
    Add("device", index,
        absl::StrCat("device \"", fleet_.device(index).name(), "\": ", what,
                     ": ", std::string(bytes.status().message())));
    return -1;
  }

  void CheckDevice(int index) {
    const Device& device = fleet_.device(index);
    CheckName("device", index, device.name(), &devices_);
    const int64_t ram = ParseSize(index, "ram", device.ram());
    const int64_t reserve = device.reserve().empty()
                                ? 0
                                : ParseSize(index, "reserve", device.reserve());
    if (ram >= 0 && reserve >= 0 && reserve >= ram) {
      Add("device", index,
          absl::StrCat("device \"", device.name(), "\" has ", device.ram(),
                       " of RAM and a reserve of ",
                       reserve == 0 ? "0" : device.reserve(),
                       ", which leaves nothing; correct one of them"));
    }
    std::set<std::string> named;
    for (const std::string& name : device.deployment()) {
      if (!named.insert(name).second) {
        Add("device", index,
            absl::StrCat("device \"", device.name(), "\" names deployment \"",
                         name,
                         "\" twice; if the program runs twice, give each run "
                         "a deployment with a name of its own"));
      }
      if (deployments_.count(name) > 0) continue;
      Add("device", index,
          absl::StrCat(
              "device \"", device.name(), "\" names deployment \"", name,
              "\", which the fleet does not have",
              DidYouMean(name, {deployments_.begin(), deployments_.end()}),
              "; correct the name, or add deployment { name: \"", name,
              "\" label: \"...\" }"));
    }
  }

  const Fleet& fleet_;
  TextFormat::ParseInfoTree* const locations_;
  ProblemCollector* const problems_;
  std::set<std::string> deployments_;
  std::set<std::string> devices_;
};

}  // namespace

FleetSource ParseFleetFile(absl::string_view path, absl::string_view text) {
  FleetSource source;
  source.path = std::string(path);
  ProblemCollector problems(&source);
  TextFormat::Parser parser;
  TextFormat::ParseInfoTree locations;
  parser.RecordErrorsTo(&problems);
  parser.WriteLocationsTo(&locations);
  if (!parser.ParseFromString(std::string(text), &source.fleet)) {
    if (source.problems.empty()) problems.Add(-1, 0, "cannot be parsed");
    return source;
  }
  FleetChecker(source.fleet, &locations, &problems).Run();
  return source;
}

int64_t BytesForDeployments(const Device& device) {
  return ParseBytes(device.ram()).value_or(0) -
         (device.reserve().empty() ? 0
                                   : ParseBytes(device.reserve()).value_or(0));
}

}  // namespace footprint
