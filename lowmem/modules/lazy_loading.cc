#include "footprint/lowmem/modules/lazy_loading.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/modules/counted_floats.h"
#include "footprint/lowmem/modules/module_loader.h"
#include "footprint/lowmem/modules/module_tree.h"
#include "footprint/lowmem/weights/float_reader.h"

namespace footprint {
namespace {

using lowmem_internal::BoundParameter;
using lowmem_internal::CountedFloats;
using lowmem_internal::LoadedModule;
using lowmem_internal::ModuleLoader;
using lowmem_internal::NamedModule;

absl::Status CheckWeight(const Weight& weight, const Parameter& parameter) {
  if (weight.shape() != parameter.shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat(weight.tensor().name, " is ", weight.shape().ToString(),
                     ", but the module's ", parameter.name(), " is ",
                     parameter.shape().ToString()));
  }
  const DType type = weight.dtype();
  if (type != DType::kF32 && type != DType::kBF16 && type != DType::kF16) {
    return absl::InvalidArgumentError(
        absl::StrCat(weight.tensor().name, " holds ", DTypeName(type),
                     "; F32, BF16 and F16 can be computed with"));
  }
  return absl::OkStatus();
}

class Model final : public LazyModel {
 public:
  Model(std::unique_ptr<WeightStore> store, std::vector<NamedModule> modules,
        int64_t prefetch_bytes)
      : store_(std::move(store)),
        modules_(std::move(modules)),
        loader_(store_.get(), prefetch_bytes) {}

  ~Model() override {
    for (const NamedModule& named : modules_) named.module->set_holder(nullptr);
  }

  absl::Status Load(const std::vector<bool>& is_lazy,
                    const std::string& prefix);

  int64_t parameter_bytes() const override { return parameter_bytes_; }
  int64_t kept_bytes() const override { return kept_bytes_; }
  int64_t held_bytes() const override { return loader_.meter()->held_bytes(); }
  int64_t peak_bytes() const override { return loader_.meter()->peak_bytes(); }
  int64_t loads() const override { return loader_.loads(); }
  int64_t prefetched_loads() const override {
    return loader_.prefetched_loads();
  }
  WeightCounters counters() const override { return store_->counters(); }
  absl::Status CheckFile() const override { return store_->CheckFile(); }

 private:
  absl::StatusOr<std::vector<BoundParameter>> Bind(const NamedModule& named,
                                                   const std::string& prefix);

  const std::unique_ptr<WeightStore> store_;
  const std::vector<NamedModule> modules_;
  int64_t parameter_bytes_ = 0;
  int64_t kept_bytes_ = 0;
  ModuleLoader loader_;
};

absl::StatusOr<std::vector<BoundParameter>> Model::Bind(
    const NamedModule& named, const std::string& prefix) {
  std::vector<BoundParameter> bound;
  for (Parameter& parameter : named.module->parameters()) {
    const std::string tensor = absl::StrCat(
        prefix, named.name, named.name.empty() ? "" : ".", parameter.name());
    const absl::StatusOr<Weight> weight = store_->Find(tensor);
    absl::Status status = weight.status();
    if (status.ok()) status = CheckWeight(*weight, parameter);
    if (!status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("module \"", named.name, "\" (",
                       named.module->class_name(), "): ", status.message()));
    }
    BoundParameter one;
    one.parameter = &parameter;
    one.weight = *weight;
    one.in_place = RowsInPlace(*store_, *weight, 0, weight->rows());
    bound.push_back(one);
    parameter_bytes_ += LineFloatBytes(parameter.count());
  }
  return bound;
}

absl::Status Model::Load(const std::vector<bool>& is_lazy,
                         const std::string& prefix) {
  std::vector<LoadedModule*> order;
  for (size_t i = 0; i < modules_.size(); ++i) {
    Module* const module = modules_[i].module;
    if (module->parameters().empty()) continue;
    absl::StatusOr<std::vector<BoundParameter>> bound =
        Bind(modules_[i], prefix);
    if (!bound.ok()) return bound.status();
    LoadedModule* const loaded =
        loader_.Add(modules_[i].name, !is_lazy[i], *std::move(bound));
    module->set_holder(loaded);
    if (!is_lazy[i]) {
      kept_bytes_ += loaded->bytes();
    } else if (!module->leases_rows()) {
      order.push_back(loaded);
    }
  }
  return loader_.Start(order);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LazyModel>> LazyLoading(
    Module* model, absl::string_view checkpoint,
    const LazyLoadingOptions& options) {
  absl::StatusOr<std::vector<NamedModule>> modules =
      lowmem_internal::WalkModules(model);
  if (!modules.ok()) return modules.status();
  for (const NamedModule& named : *modules) {
    if (named.module->holder() == nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("module \"", named.name,
                     "\" is loaded already: destroy what LazyLoading returned "
                     "before calling it again"));
  }
  const absl::StatusOr<std::vector<bool>> is_lazy =
      lowmem_internal::ChooseModules(*modules, options.target_classes,
                                     options.target_modules,
                                     options.skip_modules);
  if (!is_lazy.ok()) return is_lazy.status();
  if (options.prefetch_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("prefetch_bytes is ",
                                                   options.prefetch_bytes,
                                                   "; 0 reads nothing ahead"));
  }
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(checkpoint, options.storage);
  if (!store.ok()) return store.status();
  const bool reads = options.storage == WeightBackend::kPread ||
                     options.storage == WeightBackend::kDirect;
  auto loaded = std::make_unique<Model>(*std::move(store), *std::move(modules),
                                        reads ? options.prefetch_bytes : 0);
  const absl::Status status = loaded->Load(*is_lazy, options.prefix);
  if (!status.ok()) return status;
  return loaded;
}

}  // namespace footprint
