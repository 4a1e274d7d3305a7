// Detects losses that are not finite or that spike, among those reported by a job's gang.
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

// A loss that the loss guard objects to.
struct LossFinding {
  LossProblem trouble = LossProblem::kSpike;
  double loss = 0;
  // The evidence, such as "the loss 9.1 is 4.2 times the mean of the last 100 (2.17)".
  std::string evidence;
};

// Window of a job's recent losses, against which a new loss is judged. Not durable: a restarted
// controller reads the losses from the metric store.
class LossWatch {
 public:
  // Judges the loss of a step of `attempt`, which started from `resume_step`. Adds the loss to the
  // window unless there is a finding. Returns only the first of consecutive findings. Losses of
  // older attempts, and of steps not above the newest one, are ignored.
  std::optional<LossFinding> Add(const v1::GuardSpec& rules, int64_t attempt, int64_t resume_step,
                                 int64_t step, double loss);

  // Adds losses from before the controller's start, oldest first, in front of those already added.
  void Recover(const v1::GuardSpec& rules, int64_t attempt,
               const std::vector<std::pair<int64_t, double>>& losses);

  // Number of losses in the window.
  std::size_t size() const { return window_.size(); }

 private:
  void Begin(int64_t attempt, int64_t resume_step);
  std::optional<std::string> Judge(const v1::GuardSpec& rules, double loss) const;
  void Keep(const v1::GuardSpec& rules, int64_t step, double loss);

  // Step and loss, oldest first.
  std::deque<std::pair<int64_t, double>> window_;
  int64_t attempt_ = 0;
  int64_t newest_step_ = 0;
  // Findings since the newest loss in the window.
  int64_t spikes_in_a_row_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOSS_WATCH_H_
