// A model as a tree of named modules, whose parameters are there while they are
// leased. Their names are those of a checkpoint: "encoder.0.expand.weight".
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
// A module has its direct parameters; a lease of it is not one of its children.
// Where parameters come from is LazyLoading's affair (lazy_loading.h), without
// which Lease fails.
//
// A module owns neither its children nor its parameters' memory: children are
// usually its members. Not copyable, not movable. The tree is built by one
// thread; then Lease and LeaseRows may be called by any number of them at once.
// Memory: about 100 bytes a parameter, what is leased besides.
//
// FailedPrecondition: LazyLoading was not called, or what it returned is gone.
// Otherwise WeightStore's errors, with the module's name before them.

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

// A parameter as floats, whatever the file holds.
class Parameter {
 public:
  Parameter(std::string name, Shape shape);

  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  // Seen as a matrix: all but the last extent are rows; a vector is one row.
  int64_t rows() const { return shape_.rows(); }
  int64_t columns() const { return shape_.columns(); }
  int64_t count() const { return shape_.elements(); }
  // Row after row; null unless the module is leased or kept.
  const float* data() const { return data_; }

  // Sets the floats; called by whoever leases.
  void set_data(const float* data) { data_ = data; }

 private:
  std::string name_;
  Shape shape_;
  const float* data_ = nullptr;
};

// Rows of a parameter, there as long as the pointer or a copy of it.
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

// Keeps a module's parameters in memory. Movable; ends when destroyed.
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

  // Returns the name by which options of LazyLoading name it.
  const std::string& class_name() const { return class_name_; }

  // Returns whether it asks for rows alone (LeaseRows) and never for all of
  // itself.
  virtual bool leases_rows() const { return false; }

  // Returns the children, for whoever walks over the tree.
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

  // `child` lives as long as this module. A name may have dots within, as
  // "attention.self". Names differ; LazyLoading says so if not.
  void AddChild(std::string name, Module* child) {
    children_.emplace_back(std::move(name), child);
  }
  // Lives as long as this module.
  const Parameter* AddParameter(std::string name, Shape shape) {
    parameters_.emplace_back(std::move(name), std::move(shape));
    return &parameters_.back();
  }

  // Loads the direct parameters, if there are any, unless another lease has.
  absl::StatusOr<ModuleLease> Lease();
  // rows * columns floats of one of them; needs no Lease.
  absl::StatusOr<RowsLease> LeaseRows(const Parameter& parameter, int64_t row,
                                      int64_t rows);

 private:
  const std::string class_name_;
  std::vector<std::pair<std::string, Module*>> children_;
  std::deque<Parameter> parameters_;
  lowmem_internal::ParameterHolder* holder_ = nullptr;
};

// A module from activations to activations, as a Sequential is made of.
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
