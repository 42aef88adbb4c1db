#include "footprint/trainer_manager/training/train.h"

#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_state.h"
#include "footprint/trainer_manager/training/batch_loader.h"
#include "footprint/trainer_manager/training/batch_read_ahead.h"
#include "footprint/trainer_manager/training/loop_state.h"
#include "footprint/trainer_manager/training/state_lock.h"
#include "footprint/trainer_manager/training/training_settings.h"

namespace footprint {
namespace {

absl::Status CheckOptions(const TrainOptions& options) {
  const auto refuse = [](absl::string_view what, auto value,
                         absl::string_view needed) {
    return absl::InvalidArgumentError(
        absl::StrCat("TrainOptions::", what, " is ", value, "; ", needed));
  };
  if (options.manager.optimizer == nullptr) {
    return absl::InvalidArgumentError(
        "TrainOptions::manager has no optimizer: set one, such as "
        "AdamW(1e-3f)");
  }
  if (options.epochs < 1) return refuse("epochs", options.epochs, "at least 1");
  for (const auto& [name, value] :
       {std::make_pair("patience", options.patience),
        std::make_pair("plateau_patience", options.plateau_patience),
        std::make_pair("save_every", options.save_every)}) {
    if (value < 0) return refuse(name, value, "at least 0");
  }
  if (options.threads < 1 || options.threads > kMostTeamThreads) {
    return refuse("threads", options.threads, "from 1 to 64");
  }
  if (!(options.plateau_factor > 0 && options.plateau_factor <= 1)) {
    return refuse("plateau_factor", options.plateau_factor,
                  "above 0 and at most 1");
  }
  if (!options.best_path.empty() && !options.state_path.empty() &&
      IsSameFile(options.best_path, options.state_path)) {
    return refuse("best_path", options.best_path,
                  "state_path names the same file, and each needs a file of "
                  "its own");
  }
  return absl::OkStatus();
}

// InvalidArgument if there are too many steps to count.
absl::Status CheckSteps(const TrainOptions& options,
                        const BatchLoader& loader) {
  const int64_t most = std::numeric_limits<int64_t>::max() / loader.batches();
  if (options.epochs <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("TrainOptions::epochs is ", options.epochs, "; at most ",
                   most, " can be counted in steps"));
}

// Fails if the file system does not answer: a file that is there must not be
// replaced because of that.
absl::StatusOr<bool> FileExists(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return FileError(errno, path, "cannot be looked for");
}

absl::StatusOr<int64_t> SavedByFreezing(const Network& network,
                                        const TrainOptions& options,
                                        const MathBackend& math) {
  bool any_frozen = false;
  for (const ParameterGroup& group : network.groups()) {
    any_frozen |= group.frozen;
  }
  if (!any_frozen) return 0;
  return BytesSavedByFreezing(network, options.memory,
                              options.manager.optimizer->states_per_weight(),
                              math);
}

// Adds the settings of the loop to those of its parts.
void AddLoopSettings(const TrainOptions& options, TrainingNotes* settings) {
  (*settings)["setting.validation"] =
      options.validation ? absl::StrCat(options.validation->rows(), " rows")
                         : "none";
  (*settings)["setting.best_path"] =
      options.best_path.empty() ? "none" : "given";
  (*settings)["setting.plateau"] =
      options.plateau_factor == 1
          ? "none"
          : absl::StrFormat("rate times %.9g after %d epochs",
                            options.plateau_factor, options.plateau_patience);
}

absl::Status OfValidation(const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("validation: ", status.message()));
}

// One call of Train.
class TrainingLoop {
 public:
  TrainingLoop(const TrainOptions& options, const ExecutionPlan& plan,
               TrainingNotes settings, int64_t bytes_saved_by_freezing,
               std::shared_ptr<Parameters> parameters,
               std::unique_ptr<Manager> manager, BatchLoader loader)
      : options_(options),
        plan_(plan),
        settings_(std::move(settings)),
        parameters_(std::move(parameters)),
        manager_(std::move(manager)),
        loader_(std::move(loader)),
        saved_bytes_(bytes_saved_by_freezing),
        lines_(options.progress, plan.planned_bytes(), saved_bytes_) {}

  // Prepares the evaluation, and continues the training in the file, if any.
  absl::Status Begin(const Network& network, int64_t rows,
                     const MathBackend& math);
  absl::Status Run();
  TrainResult TakeResult();

 private:
  int64_t steps() const { return options_.epochs * loader_.batches(); }
  int64_t batch() const { return manager_->iteration() % loader_.batches(); }
  bool IsFinished() const {
    return state_.stopped_early || manager_->iteration() == steps();
  }
  bool HasNoPatience() const {
    return options_.patience > 0 && state_.worse_epochs >= options_.patience;
  }
  absl::Status Resume();
  // Fails unless the training in the file is this one.
  absl::Status CheckNotes(const TrainingNotes& notes, int64_t iteration) const;
  absl::Status LowerRate();
  absl::StatusOr<Metrics> Evaluate();
  // Does one step; sets stop_ if the caller's function says so.
  absl::Status Step();
  absl::Status EndEpoch();
  absl::Status Compare(double loss, int64_t epoch);
  absl::Status Save() const;
  absl::Status SaveFirst() const;
  absl::Status Finish();

  const TrainOptions& options_;
  const ExecutionPlan& plan_;
  const TrainingNotes settings_;
  const std::shared_ptr<Parameters> parameters_;
  const std::unique_ptr<Manager> manager_;
  BatchLoader loader_;
  absl::optional<BatchReadAhead> read_ahead_;
  absl::optional<Evaluation> evaluation_;
  const int64_t saved_bytes_;
  ProgressLines lines_;
  LoopState state_;
  bool stop_ = false;
  std::vector<EpochResult> epochs_;
  absl::optional<Metrics> validation_;  // of the final parameters
};

absl::StatusOr<Metrics> TrainingLoop::Evaluate() {
  const absl::StatusOr<Metrics> metrics = evaluation_->Run();
  if (!metrics.ok()) return OfValidation(metrics.status());
  return metrics;
}

absl::Status TrainingLoop::Begin(const Network& network, int64_t rows,
                                 const MathBackend& math) {
  state_.rows = rows;
  state_.batches = loader_.batches();
  if (options_.validation) {
    auto plan = PlanEvaluationBeside(plan_, network, options_.memory, math);
    if (!plan.ok()) return OfValidation(plan.status());
    auto evaluation = Evaluation::Create(*std::move(plan), options_.manager,
                                         parameters_, *options_.validation);
    if (!evaluation.ok()) return OfValidation(evaluation.status());
    evaluation_ = *std::move(evaluation);
  }
  if (options_.plateau_factor < 1 &&
      options_.manager.optimizer->ForGroup(1, absl::nullopt) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the rate of the optimizer ", options_.manager.optimizer->name(),
        " cannot be lowered on a plateau: override Optimizer::ForGroup"));
  }
  if (options_.state_path.empty()) return SaveFirst();
  const absl::StatusOr<bool> exists = FileExists(options_.state_path);
  if (!exists.ok()) return exists.status();
  if (!*exists) return SaveFirst();
  const absl::Status status = Resume();
  // A finished training writes nothing.
  return status.ok() && !IsFinished() ? Save() : status;
}

// Writes both files before the first step, so that a missing folder or a full
// disk shows before an epoch of work is lost. The file of the training is
// written twice, because a file that is replaced stays until the new one is
// whole.
absl::Status TrainingLoop::SaveFirst() const {
  absl::Status status = options_.best_path.empty()
                            ? absl::OkStatus()
                            : SaveParameters(*parameters_, options_.best_path);
  if (status.ok()) status = Save();
  return status.ok() ? Save() : status;
}

absl::Status TrainingLoop::Resume() {
  const auto notes =
      ResumeTraining(options_.state_path, plan_, manager_.get(),
                     [this](const TrainingNotes& read, int64_t iteration) {
                       return CheckNotes(read, iteration);
                     });
  if (!notes.ok()) return notes.status();
  state_ = *FromNotes(*notes);
  // The patience may have been changed.
  state_.stopped_early = HasNoPatience();
  return LowerRate();
}

absl::Status TrainingLoop::CheckNotes(const TrainingNotes& notes,
                                      int64_t iteration) const {
  const absl::StatusOr<LoopState> state = FromNotes(notes);
  if (!state.ok()) return state.status();
  const auto refuse = [](const auto&... words) {
    return absl::InvalidArgumentError(absl::StrCat(words...));
  };
  if (state->rows != state_.rows || state->batches != state_.batches) {
    return refuse("its training was on ", state->rows, " rows in ",
                  state->batches, " batches, and this one is on ", state_.rows,
                  " in ", state_.batches, ": use the same data set and batch");
  }
  if (iteration > steps()) {
    return refuse("it has done ", iteration, " steps, more than the ", steps(),
                  " of ", options_.epochs,
                  " epochs: raise TrainOptions::epochs, or remove the file");
  }
  const absl::Status status = CheckSameSettings(notes, settings_);
  if (!status.ok()) return status;
  if (options_.best_path.empty() || state->best_epoch <= 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<bool> has_best = FileExists(options_.best_path);
  if (!has_best.ok()) return has_best.status();
  if (!*has_best) {
    return refuse("its best weights, of epoch ", state->best_epoch,
                  ", were in ", options_.best_path,
                  ", which is not there: bring that file back, or remove "
                  "this one");
  }
  return absl::OkStatus();
}

// Sets the rate that follows from the reductions so far.
absl::Status TrainingLoop::LowerRate() {
  if (state_.reductions == 0) return absl::OkStatus();
  const double factor = std::pow(static_cast<double>(options_.plateau_factor),
                                 static_cast<double>(state_.reductions));
  return manager_->ReplaceOptimizer(options_.manager.optimizer->ForGroup(
      static_cast<float>(factor), absl::nullopt));
}

absl::Status TrainingLoop::Run() {
  if (options_.read_ahead) read_ahead_.emplace(plan_, loader_, steps());
  lines_.Begin(MonotonicTimeNs());
  while (!IsFinished() && !stop_) {
    absl::Status status = Step();
    const bool ends_epoch = status.ok() && batch() == 0;
    if (ends_epoch) status = EndEpoch();
    const bool is_due = ends_epoch || stop_ ||
                        (options_.save_every > 0 &&
                         manager_->iteration() % options_.save_every == 0);
    if (status.ok() && is_due) status = Save();
    if (!status.ok()) return status;
  }
  return IsFinished() ? Finish() : absl::OkStatus();
}

absl::Status TrainingLoop::Finish() {
  if (!options_.best_path.empty() && state_.best_epoch > 0) {
    const absl::Status status =
        LoadParameters(options_.best_path, parameters_.get());
    if (!status.ok()) return status;
  }
  manager_->ReleaseArena();
  if (!evaluation_) return absl::OkStatus();
  const absl::StatusOr<Metrics> metrics = Evaluate();
  if (metrics.ok()) validation_ = *metrics;
  return metrics.status();
}

absl::Status TrainingLoop::Step() {
  const int64_t step = manager_->iteration();
  const int64_t rows = loader_.RowsOf(batch());
  absl::Status status = read_ahead_ ? read_ahead_->Fill(step, manager_.get())
                                    : loader_.Fill(step, manager_.get());
  if (!status.ok()) return status;
  const absl::StatusOr<float> loss = manager_->TrainStep();
  if (!loss.ok()) {
    return absl::Status(
        loss.status().code(),
        absl::StrCat("step ", step + 1, ": ", loss.status().message(),
                     "; the batch has the ", loader_.DescribeRows(step)));
  }
  state_.loss_sum += static_cast<double>(*loss) * static_cast<double>(rows);
  state_.loss_rows += rows;
  StepProgress progress;
  progress.step = step + 1;
  progress.steps = steps();
  progress.epoch = step / loader_.batches() + 1;
  progress.rows = rows;
  progress.loss = state_.loss_sum / static_cast<double>(state_.loss_rows);
  progress.rate = manager_->optimizer()->RateAt(step + 1);
  lines_.Step(MonotonicTimeNs(), progress);
  if (options_.on_step != nullptr) stop_ = !options_.on_step(progress);
  return absl::OkStatus();
}

absl::Status TrainingLoop::EndEpoch() {
  EpochResult result;
  result.epoch = manager_->iteration() / loader_.batches();
  result.training_loss =
      state_.loss_sum / static_cast<double>(state_.loss_rows);
  state_.loss_sum = 0;
  state_.loss_rows = 0;
  if (evaluation_) {
    manager_->ReleaseArena();
    const absl::StatusOr<Metrics> metrics = Evaluate();
    if (!metrics.ok()) return metrics.status();
    result.validation = *metrics;
  }
  epochs_.push_back(result);
  return Compare(
      result.validation ? result.validation->loss : result.training_loss,
      result.epoch);
}

// Keeps the weights of the best epoch; lowers the rate or ends the training
// after epochs that are no better.
absl::Status TrainingLoop::Compare(double loss, int64_t epoch) {
  if (loss < state_.best_loss) {
    state_.best_loss = loss;
    state_.best_epoch = epoch;
    state_.worse_epochs = 0;
    state_.plateau_epochs = 0;
    return options_.best_path.empty()
               ? absl::OkStatus()
               : SaveParameters(*parameters_, options_.best_path);
  }
  ++state_.worse_epochs;
  ++state_.plateau_epochs;
  state_.stopped_early = HasNoPatience();
  if (options_.plateau_factor < 1 &&
      state_.plateau_epochs > options_.plateau_patience) {
    state_.plateau_epochs = 0;
    ++state_.reductions;
    return LowerRate();
  }
  return absl::OkStatus();
}

absl::Status TrainingLoop::Save() const {
  if (options_.state_path.empty()) return absl::OkStatus();
  TrainingNotes notes = ToNotes(state_);
  notes.insert(settings_.begin(), settings_.end());
  return SaveTraining(plan_, *manager_, options_.state_path, notes);
}

TrainResult TrainingLoop::TakeResult() {
  TrainResult result;
  result.parameters = parameters_;
  result.epochs = std::move(epochs_);
  result.steps = manager_->iteration();
  result.best_loss = state_.best_loss;
  result.best_epoch = state_.best_epoch;
  result.stopped_early = state_.stopped_early;
  result.is_finished = IsFinished();
  result.validation = validation_;
  result.planned_bytes = plan_.planned_bytes();
  result.bytes_saved_by_freezing = saved_bytes_;
  return result;
}

}  // namespace

absl::StatusOr<TrainResult> Train(const Network& network, const DataSet& data,
                                  const TrainOptions& options) {
  absl::Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<const MathBackend> team;
  if (options.threads > 1) team = MakeTeamBackend(options.threads);
  const MathBackend& math = team == nullptr ? HighwayBackend() : *team;
  MemoryOptions memory = options.memory;
  memory.tile_gradients &= options.manager.optimizer->is_elementwise();
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, memory,
                    options.manager.optimizer->states_per_weight(), math);
  if (!plan.ok()) return plan.status();
  const auto saved = SavedByFreezing(network, options, math);
  if (!saved.ok()) return saved.status();
  // Opens the data set.
  LoaderOptions loader_options;
  loader_options.seed = options.manager.seed;
  loader_options.shuffle = options.shuffle;
  loader_options.drop_last = options.drop_last;
  auto loader = BatchLoader::Create(*plan, data, loader_options);
  if (!loader.ok()) return loader.status();
  status = CheckSteps(options, *loader);
  if (!status.ok()) return status;
  // Makes the parameters, unless they are given, and the manager.
  std::shared_ptr<Parameters> parameters = options.parameters;
  if (parameters == nullptr) {
    auto drawn = Parameters::Create(*plan, options.manager.seed);
    if (!drawn.ok()) return drawn.status();
    parameters = *std::move(drawn);
  }
  auto manager = Manager::Create(*plan, parameters, options.manager);
  if (!manager.ok()) return manager.status();
  // Keeps other trainings from writing the state file.
  absl::optional<FileLock> lock;
  if (!options.state_path.empty()) {
    absl::StatusOr<FileLock> acquired = LockTrainingState(options.state_path);
    if (acquired.ok()) {
      lock = *std::move(acquired);
    } else if (!absl::IsPermissionDenied(acquired.status())) {
      // If the folder must not be written, saving fails later and says so.
      return acquired.status();
    }
  }
  // Resumes from the state file, if there is one, and trains.
  TrainingNotes settings =
      DescribeSettings(*plan, options.manager, loader_options);
  AddLoopSettings(options, &settings);
  TrainingLoop loop(options, *plan, std::move(settings), *saved,
                    std::move(parameters), *std::move(manager),
                    *std::move(loader));
  status = loop.Begin(network, data.rows(), math);
  if (status.ok()) status = loop.Run();
  if (!status.ok()) return status;
  return loop.TakeResult();
}

}  // namespace footprint
