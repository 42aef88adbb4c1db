#include "footprint/trainer_manager/adapters/merge_adapters.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"

namespace footprint {
namespace {

// A pair of matrices, where its product goes.
struct Branch {
  absl::Span<const float> a;  // [rank, inputs]
  absl::Span<const float> b;  // [outputs, rank]
  size_t rank = 0;
  size_t first_output = 0;
  size_t outputs = 0;
  double scale = 0;
};

// The branches by the name of the weight that they change.
using Branches = std::map<std::string, std::vector<Branch>>;

absl::StatusOr<Branches> FindBranches(const AdaptedNetwork& adapted,
                                      const Parameters& parameters) {
  Branches branches;
  for (const Adapter& adapter : adapted.adapters) {
    const auto a = parameters.Find(adapter.NameA());
    const auto b = parameters.Find(adapter.NameB());
    for (const auto* found : {&a, &b}) {
      if (found->ok()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(found->status().message(),
                       ": create the parameters from a plan of "
                       "AdaptedNetwork::network"));
    }
    Branch branch;
    branch.a = *a;
    branch.b = *b;
    branch.rank = static_cast<size_t>(adapter.matrices.rank);
    branch.outputs = b->size() / branch.rank;
    branch.first_output =
        static_cast<size_t>(adapter.matrices.part) * branch.outputs;
    branch.scale = adapter.matrices.scale;
    branches[adapter.layer + ".weight"].push_back(branch);
  }
  return branches;
}

// Adds to a row of the weight, [units], what the branch changes of it.
void AddBranch(const Branch& branch, size_t input, std::vector<double>* row) {
  const size_t inputs = branch.a.size() / branch.rank;
  for (size_t o = 0; o < branch.outputs; ++o) {
    double sum = 0;
    for (size_t k = 0; k < branch.rank; ++k) {
      sum += static_cast<double>(branch.b[o * branch.rank + k]) *
             static_cast<double>(branch.a[k * inputs + input]);
    }
    (*row)[branch.first_output + o] += branch.scale * sum;
  }
}

absl::Status AppendMerged(const Parameters::Parameter& weight,
                          const std::vector<Branch>& branches,
                          SafetensorsWriter* writer) {
  const size_t units = static_cast<size_t>(weight.shape.extent(1));
  std::vector<double> sums(units);
  std::vector<float> row(units);
  for (size_t i = 0; i * units < weight.values.size(); ++i) {
    const auto base = weight.values.subspan(i * units, units);
    sums.assign(base.begin(), base.end());
    for (const Branch& branch : branches) AddBranch(branch, i, &sums);
    for (size_t u = 0; u < units; ++u) {
      row[u] = static_cast<float>(sums[u]);
      if (std::isfinite(row[u])) continue;
      return absl::OutOfRangeError(absl::StrCat("the merged \"", weight.name,
                                                "\" is ", row[u], " at input ",
                                                i, " and unit ", u));
    }
    const absl::Status status =
        writer->Append(row.data(), static_cast<int64_t>(units * sizeof(float)));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MergeAdapters(const AdaptedNetwork& adapted,
                           const Parameters& parameters,
                           absl::string_view path) {
  const absl::StatusOr<Branches> branches = FindBranches(adapted, parameters);
  if (!branches.ok()) return branches.status();
  absl::flat_hash_set<std::string> matrices;
  for (const Adapter& adapter : adapted.adapters) {
    matrices.insert(adapter.NameA());
    matrices.insert(adapter.NameB());
  }
  std::vector<Parameters::Parameter> merged;
  std::vector<TensorSpec> specs;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    if (matrices.contains(parameter.name)) continue;
    const absl::Status status = CheckLoadable(path, parameter);
    if (!status.ok()) return status;
    merged.push_back(parameter);
    specs.push_back(
        {std::string(parameter.name), DType::kF32, parameter.shape});
  }
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, specs);
  if (!writer.ok()) return writer.status();
  for (const Parameters::Parameter& parameter : merged) {
    const auto found = branches->find(std::string(parameter.name));
    const absl::Status status =
        found == branches->end()
            ? writer->Append(
                  parameter.values.data(),
                  static_cast<int64_t>(parameter.values.size() * sizeof(float)))
            : AppendMerged(parameter, found->second, &*writer);
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

}  // namespace footprint
