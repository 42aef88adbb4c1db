#include "footprint/memo/schedule/belady_schedule.h"

#include <algorithm>
#include <utility>

#include "footprint/memo/schedule/victim_queue.h"

namespace footprint::memo_internal {
namespace {

constexpr int kNever = INT32_MAX;
// At most this many of a step's last victims are reconsidered, since they may
// turn out to be unnecessary.
constexpr size_t kMostReconsidered = 64;

// Holds, for each use in running order, the step at which its value is used
// next.
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

// Returns for each value the bytes that its eviction frees, divided by the cost
// of loading it again.
std::vector<double> ComputeWeights(const ScheduleRequest& request) {
  std::vector<double> weights;
  weights.reserve(request.values.size());
  for (const PlannedValue& value : request.values) {
    weights.push_back(static_cast<double>(value.bytes) /
                      static_cast<double>(value.load_cost));
  }
  return weights;
}

// Returns whether the values may exceed the budget.
bool MayExceed(const ScheduleRequest& request, int64_t budget_bytes) {
  int64_t bytes = 0;
  for (const PlannedValue& value : request.values) {
    bytes += std::max(value.bytes, value.load_peak_bytes);
  }
  return bytes > budget_bytes;
}

class Sweep {
 public:
  Sweep(const ScheduleRequest& request, const std::vector<int>& order,
        int64_t budget_bytes)
      : request_(request),
        order_(order),
        budget_bytes_(budget_bytes),
        next_uses_(request, order),
        may_exceed_(MayExceed(request, budget_bytes)),
        residents_(request.values.size()),
        queue_(may_exceed_ ? ComputeWeights(request) : std::vector<double>()) {}

  Schedule Run() {
    schedule_.steps.resize(order_.size());
    for (size_t step = 0; step < order_.size(); ++step) {
      schedule_.steps[step].cell = order_[step];
      RunStep(step);
    }
    // The peak is known only now: an eviction that makes room takes place at
    // the value's last use, some steps before the sweep decides on it.
    schedule_.peak_bytes = PeakBytes(request_, schedule_);
    return std::move(schedule_);
  }

 private:
  struct Resident {
    bool is_loaded = false;
    int last_use = -1;
    int next_use = kNever;
  };

  const std::vector<int>& ValuesAt(size_t step) const {
    return request_.cells[static_cast<size_t>(order_[step])].values;
  }
  const PlannedValue& Value(int value) const {
    return request_.values[static_cast<size_t>(value)];
  }
  Resident& At(int value) { return residents_[static_cast<size_t>(value)]; }

  void RunStep(size_t step) {
    const std::vector<int>& values = ValuesAt(step);
    int64_t missing_bytes = FindMissing(values);
    if (live_bytes_ > budget_bytes_ - missing_bytes) {
      MakeRoom(step, missing_bytes);
    }
    if (live_bytes_ > budget_bytes_ - missing_bytes) {
      // Values that the cell already has leave too little room for its other
      // loads.
      for (int value : values) {
        if (At(value).is_loaded) Evict(step, value);
      }
      FindMissing(values);
    }
    for (int value : missing_) Load(step, value);
    for (int value : values) At(value).last_use = static_cast<int>(step);
    for (size_t use = 0; use < values.size(); ++use) {
      At(values[use]).next_use = next_uses_.Of(step, use);
      if (At(values[use]).next_use == kNever) {
        Evict(step, values[use]);
      } else if (may_exceed_) {
        queue_.Put(values[use], At(values[use]).next_use,
                   static_cast<int>(step));
      }
    }
  }

  // Finds the values to load, in the order that needs the fewest bytes. Returns
  // the bytes that they need.
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
    live_bytes_ += Value(value).bytes;
    schedule_.steps[step].loads.push_back(value);
    ++schedule_.load_count;
    schedule_.load_cost += Value(value).load_cost;
  }

  // Evicts the value right after its last use, since no cell has used it since
  // then.
  void Evict(size_t step, int value) {
    Resident& resident = At(value);
    resident.is_loaded = false;
    if (may_exceed_) queue_.Remove(value, static_cast<int>(step));
    live_bytes_ -= Value(value).bytes;
    schedule_.steps[static_cast<size_t>(resident.last_use)].evictions.push_back(
        value);
  }

  // Makes room for loads. The values that the cell itself needs have a next use
  // now, so their gain is 0 and they stay.
  void MakeRoom(size_t step, int64_t missing_bytes) {
    const int now = static_cast<int>(step);
    int64_t room_bytes = budget_bytes_ - missing_bytes - live_bytes_;
    victims_.clear();
    while (room_bytes < 0) {
      const int best = queue_.Best(now);
      if (best < 0) break;
      queue_.Remove(best, now);
      victims_.push_back(best);
      room_bytes += Value(best).bytes;
    }
    // A large victim may have made smaller, earlier victims unnecessary.
    size_t reconsidered_count = 0;
    for (size_t i = victims_.size(); i-- > 0;) {
      const int64_t bytes = Value(victims_[i]).bytes;
      if (bytes <= room_bytes && reconsidered_count < kMostReconsidered) {
        room_bytes -= bytes;
        queue_.Put(victims_[i], At(victims_[i]).next_use, now);
        ++reconsidered_count;
      } else {
        Evict(step, victims_[i]);
      }
    }
  }

  const ScheduleRequest& request_;
  const std::vector<int>& order_;
  const int64_t budget_bytes_;
  const NextUses next_uses_;
  const bool may_exceed_;
  std::vector<Resident> residents_;
  // Values that are loaded and needed again; used only if room may be needed.
  VictimQueue queue_;
  std::vector<int> victims_;
  std::vector<int> missing_;
  int64_t live_bytes_ = 0;
  Schedule schedule_;
};

}  // namespace

Schedule ScheduleByBelady(const ScheduleRequest& request,
                          const std::vector<int>& order, int64_t budget_bytes) {
  return Sweep(request, order, budget_bytes).Run();
}

}  // namespace footprint::memo_internal
