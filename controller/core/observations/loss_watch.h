// Watches the losses that a job's gang reports. Finds losses that are not finite, and loss spikes.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOSS_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOSS_WATCH_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/guard_spec.pb.h"

namespace trainyard::controller {

enum class LossProblem { kNotFinite, kSpike };

// A loss that violates the rules of the loss guard.
struct LossFinding {
  LossProblem trouble = LossProblem::kSpike;
  double loss = 0;
  // The evidence, for example "the loss 9.1 is 4.2 times the mean of the last 100 (2.17)".
  std::string evidence;
};

// The window of a job's recent losses, with which a new loss is compared. The window is not
// durable: after a restart, the controller reads the losses from the metric store.
class LossWatch {
 public:
  // Judges the loss of a step of `attempt`, which started from `resume_step`. Adds the loss to the
  // window unless there is a finding. If there are several consecutive findings, returns only the
  // first. Ignores losses of older attempts, and losses of steps that are not above the newest
  // step.
  std::optional<LossFinding> Add(const v1::GuardSpec& rules, int64_t attempt, int64_t resume_step,
                                 int64_t step, double loss);

  // Adds losses from before the controller's start, oldest first. These losses are inserted before
  // the losses already added.
  void Recover(const v1::GuardSpec& rules, int64_t attempt,
               const std::vector<std::pair<int64_t, double>>& losses);

  // Returns the number of consecutive newest losses that are findings. If the window was cleared at
  // a high level, the findings before the clearing count as well. Those findings count until a loss
  // is at most spike_ratio times the mean that the window had before the first of these findings.
  int64_t spikes_in_a_row() const { return spikes_in_a_row_ + spikes_before_; }

  std::size_t size() const { return window_.size(); }

 private:
  void Begin(int64_t attempt, int64_t resume_step);
  std::optional<std::string> Judge(const v1::GuardSpec& rules, double loss) const;
  void Keep(const v1::GuardSpec& rules, int64_t step, double loss);
  void RestartWindow(const v1::GuardSpec& rules, double loss);
  void LeaveSpikes();

  // Pairs of step and loss, oldest first.
  std::deque<std::pair<int64_t, double>> window_;
  int64_t attempt_ = 0;
  int64_t newest_step_ = 0;
  // The number of findings since the newest loss in the window.
  int64_t spikes_in_a_row_ = 0;
  // If the loss stays at a high level, the window restarts at that level. In this case
  // level_before_ is the loss at which the spikes end, and spikes_before_ is the number of spikes
  // before the restart. Otherwise both are 0.
  double level_before_ = 0;
  int64_t spikes_before_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOSS_WATCH_H_
