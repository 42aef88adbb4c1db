#include "footprint/memo/schedule/belady_schedule.h"

#include <algorithm>
#include <utility>

namespace footprint::memo_internal {
namespace {

constexpr int kNever = INT32_MAX;

// For each use, in running order, the step at which its value is used next.
class NextUses {
 public:
  NextUses(const ScheduleRequest& request, const std::vector<int>& order) {
    first_use_of_step_.reserve(order.size() + 1);
    first_use_of_step_.push_back(0);
    for (int cell : order) {
      const size_t uses =
          request.cells[static_cast<size_t>(cell)].values.size();
      first_use_of_step_.push_back(first_use_of_step_.back() + uses);
    }
    next_.resize(first_use_of_step_.back());
    std::vector<int> seen(request.values.size(), kNever);
    for (size_t step = order.size(); step-- > 0;) {
      const std::vector<int>& values =
          request.cells[static_cast<size_t>(order[step])].values;
      for (size_t i = 0; i < values.size(); ++i) {
        int& next = seen[static_cast<size_t>(values[i])];
        next_[first_use_of_step_[step] + i] = next;
        next = static_cast<int>(step);
      }
    }
  }

  int Of(size_t step, size_t use) const {
    return next_[first_use_of_step_[step] + use];
  }

 private:
  std::vector<size_t> first_use_of_step_;
  std::vector<int> next_;
};

class Sweep {
 public:
  Sweep(const ScheduleRequest& request, const std::vector<int>& order,
        int64_t budget_bytes)
      : request_(request),
        order_(order),
        budget_bytes_(budget_bytes),
        next_uses_(request, order),
        residents_(request.values.size()),
        cell_of_value_(request.values.size(), -1) {}

  Schedule Run() {
    schedule_.steps.resize(order_.size());
    for (size_t step = 0; step < order_.size(); ++step) {
      schedule_.steps[step].cell = order_[step];
      RunStep(step);
    }
    // Known only now: an eviction for want of room takes place at the value's
    // last use, steps before the sweep decides on it.
    schedule_.peak_bytes = PeakBytes(request_, schedule_);
    return std::move(schedule_);
  }

 private:
  struct Resident {
    bool is_loaded = false;
    int last_use = -1;
    int next_use = kNever;
    size_t position = 0;  // in loaded_
  };

  const std::vector<int>& ValuesOf(size_t step) const {
    return request_.cells[static_cast<size_t>(order_[step])].values;
  }
  const PlannedValue& Value(int value) const {
    return request_.values[static_cast<size_t>(value)];
  }
  Resident& At(int value) { return residents_[static_cast<size_t>(value)]; }

  void RunStep(size_t step) {
    const std::vector<int>& values = ValuesOf(step);
    for (int value : values) {
      cell_of_value_[static_cast<size_t>(value)] = static_cast<int>(step);
    }
    int64_t missing_bytes = FindMissing(values);
    if (live_bytes_ > budget_bytes_ - missing_bytes) {
      MakeRoom(static_cast<int>(step), missing_bytes);
    }
    if (live_bytes_ > budget_bytes_ - missing_bytes) {
      // What the cell itself has already is in the way of its other loads.
      for (int value : values) {
        if (At(value).is_loaded) Evict(value);
      }
      FindMissing(values);
    }
    for (int value : missing_) Load(step, value);
    for (int value : values) At(value).last_use = static_cast<int>(step);
    for (size_t use = 0; use < values.size(); ++use) {
      At(values[use]).next_use = next_uses_.Of(step, use);
      if (At(values[use]).next_use == kNever) Evict(values[use]);
    }
  }

  // What is to be loaded, in the order that needs least, and that need.
  int64_t FindMissing(const std::vector<int>& values) {
    missing_.clear();
    int64_t bytes = 0;
    bool has_passing = false;
    for (int value : values) {
      if (At(value).is_loaded) continue;
      missing_.push_back(value);
      bytes += Value(value).bytes;
      has_passing |= Value(value).passing_bytes() > 0;
    }
    if (!has_passing) return bytes;
    SortLoads(request_, &missing_);
    return bytes + PassingBytes(request_, missing_);
  }

  void Load(size_t step, int value) {
    At(value).is_loaded = true;
    At(value).position = loaded_.size();
    loaded_.push_back(value);
    live_bytes_ += Value(value).bytes;
    schedule_.steps[step].loads.push_back(value);
    ++schedule_.load_count;
    schedule_.load_cost += Value(value).load_cost;
  }

  // As of the value's last use: nobody needed it since.
  void Evict(int value) {
    Resident& resident = At(value);
    resident.is_loaded = false;
    At(loaded_.back()).position = resident.position;
    loaded_[resident.position] = loaded_.back();
    loaded_.pop_back();
    live_bytes_ -= Value(value).bytes;
    schedule_.steps[static_cast<size_t>(resident.last_use)].evictions.push_back(
        value);
  }

  // How much, and for how long, an eviction frees for what it costs.
  double Gain(int step, int value) {
    return static_cast<double>(At(value).next_use - step) *
           static_cast<double>(Value(value).bytes) /
           static_cast<double>(Value(value).load_cost);
  }

  bool IsBetterVictim(int step, int value, int than) {
    const double gain = Gain(step, value);
    const double other = Gain(step, than);
    return gain != other ? gain > other : value < than;
  }

  void MakeRoom(int step, int64_t missing_bytes) {
    std::vector<int> victims;
    int64_t room_bytes = budget_bytes_ - missing_bytes - live_bytes_;
    chosen_.assign(loaded_.begin(), loaded_.end());
    while (room_bytes < 0) {
      int best = -1;
      for (int value : chosen_) {
        if (cell_of_value_[static_cast<size_t>(value)] == step ||
            Value(value).bytes == 0) {
          continue;
        }
        if (best < 0 || IsBetterVictim(step, value, best)) best = value;
      }
      if (best < 0) break;
      chosen_.erase(std::find(chosen_.begin(), chosen_.end(), best));
      victims.push_back(best);
      room_bytes += Value(best).bytes;
    }
    // A large victim may have made the smaller ones before it needless.
    for (size_t i = victims.size(); i-- > 0;) {
      const int64_t bytes = Value(victims[i]).bytes;
      if (bytes <= room_bytes) {
        room_bytes -= bytes;
      } else {
        Evict(victims[i]);
      }
    }
  }

  const ScheduleRequest& request_;
  const std::vector<int>& order_;
  const int64_t budget_bytes_;
  const NextUses next_uses_;
  std::vector<Resident> residents_;
  std::vector<int> loaded_;
  std::vector<int> chosen_;
  std::vector<int> missing_;
  // The last step whose cell needs a value.
  std::vector<int> cell_of_value_;
  int64_t live_bytes_ = 0;
  Schedule schedule_;
};

}  // namespace

Schedule ScheduleByBelady(const ScheduleRequest& request,
                          const std::vector<int>& order, int64_t budget_bytes) {
  return Sweep(request, order, budget_bytes).Run();
}

}  // namespace footprint::memo_internal
