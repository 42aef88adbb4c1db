// A model as a tree of named modules. Parameters are in memory while they are
// leased, and have the names of a checkpoint: "encoder.0.expand.weight".
//
//   class FeedForward : public footprint::PanelModule {
//    public:
//     FeedForward() : PanelModule("FeedForward") {
//       AddChild("norm", &norm_);
//       AddChild("expand", &expand_);
//       scale_ = AddParameter("scale", {256});
//     }
//     absl::StatusOr<PanelActivations> Run(
//         const PanelActivations& input) override {
//       const auto normed = norm_.Run(input);  // leases norm_'s own parameters
//       if (!normed.ok()) return normed.status();
//       const auto lease = Lease();
//       if (!lease.ok()) return lease.status();
//       Use(scale_->data());                   // until the lease ends
//       ...
//
// A lease of a module covers its direct parameters, not those of its children.
// LazyLoading (lazy_loading.h) decides where parameters come from; without it
// Lease fails.
//
// A module owns neither its children nor its parameters' memory; children are
// usually its members. Not copyable, not movable. One thread builds the tree.
// After that any number of threads may call Lease and LeaseRows at once.
// Memory: about 100 bytes a parameter, and the leased parameters.
//
// The error is FailedPrecondition if LazyLoading was not called, or if its
// result was destroyed. Other errors are WeightStore's, with the module's name
// before them.

#ifndef FOOTPRINT_LOWMEM_MODULES_MODULE_H_
#define FOOTPRINT_LOWMEM_MODULES_MODULE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/lowmem/modules/panel_activations.h"

namespace footprint {

// A parameter as floats, whatever type the file holds.
class Parameter {
 public:
  Parameter(std::string name, Shape shape);

  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  // The parameter as a matrix: all extents but the last are rows; a vector is
  // one row.
  int64_t rows() const { return shape_.rows(); }
  int64_t columns() const { return shape_.columns(); }
  int64_t count() const { return shape_.elements(); }
  // Returns the rows one after the other, or null unless the module is leased
  // or kept.
  const float* data() const { return data_; }

  // Sets the floats. The holder calls this when it leases.
  void set_data(const float* data) { data_ = data; }

 private:
  std::string name_;
  Shape shape_;
  const float* data_ = nullptr;
};

// Rows of a parameter, which live as long as the pointer or a copy of it.
using RowsLease = std::shared_ptr<const float>;

namespace lowmem_internal {

// The source of one module's parameters. Thread-safe.
class ParameterHolder {
 public:
  virtual ~ParameterHolder() = default;
  virtual absl::Status Acquire() = 0;
  virtual void Release() = 0;
  virtual absl::StatusOr<RowsLease> AcquireRows(const Parameter& parameter,
                                                int64_t row, int64_t rows) = 0;
};

}  // namespace lowmem_internal

// Keeps a module's parameters in memory. Movable; ends when destroyed. Move
// assignment swaps: the lease that was assigned to ends with `other`.
class ModuleLease {
 public:
  ModuleLease(ModuleLease&& other) noexcept
      : holder_(std::exchange(other.holder_, nullptr)) {}
  ModuleLease& operator=(ModuleLease&& other) noexcept {
    std::swap(holder_, other.holder_);
    return *this;
  }
  ~ModuleLease() {
    if (holder_ != nullptr) holder_->Release();
  }

 private:
  friend class Module;
  explicit ModuleLease(lowmem_internal::ParameterHolder* holder)
      : holder_(holder) {}

  lowmem_internal::ParameterHolder* holder_;
};

class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Returns the name by which the options of LazyLoading choose it.
  const std::string& class_name() const { return class_name_; }

  // Returns whether the module leases only rows (LeaseRows) and never whole
  // parameters.
  virtual bool leases_rows() const { return false; }

  // Returns the children, for code that walks the tree.
  absl::Span<const std::pair<std::string, Module*>> children() const {
    return children_;
  }
  std::deque<Parameter>& parameters() { return parameters_; }
  // Returns null if LazyLoading was not called.
  lowmem_internal::ParameterHolder* holder() const { return holder_; }
  void set_holder(lowmem_internal::ParameterHolder* holder) {
    holder_ = holder;
  }

 protected:
  explicit Module(std::string class_name)
      : class_name_(std::move(class_name)) {}

  // Adds a child, which must live as long as this module. The name may contain
  // dots, as in "attention.self". Names must differ; LazyLoading fails if they
  // do not.
  void AddChild(std::string name, Module* child) {
    children_.emplace_back(std::move(name), child);
  }
  // Adds a parameter, which lives as long as this module.
  const Parameter* AddParameter(std::string name, Shape shape) {
    parameters_.emplace_back(std::move(name), std::move(shape));
    return &parameters_.back();
  }

  // Loads the direct parameters, if any, unless another lease has loaded them.
  absl::StatusOr<ModuleLease> Lease();
  // Leases `rows` rows of one parameter, from `row` on, as rows * columns dense
  // floats; needs no Lease. Returns InvalidArgument for another module's
  // parameter.
  absl::StatusOr<RowsLease> LeaseRows(const Parameter& parameter, int64_t row,
                                      int64_t rows);

 private:
  const std::string class_name_;
  std::vector<std::pair<std::string, Module*>> children_;
  std::deque<Parameter> parameters_;
  lowmem_internal::ParameterHolder* holder_ = nullptr;
};

// A module from activations to activations, such as the parts of a
// SequentialModule.
class PanelModule : public Module {
 public:
  virtual absl::StatusOr<PanelActivations> Run(
      const PanelActivations& input) = 0;

 protected:
  using Module::Module;
};

}  // namespace footprint

// Tested by module_tree_test.

#endif  // FOOTPRINT_LOWMEM_MODULES_MODULE_H_
