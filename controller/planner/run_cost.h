// Predicts the duration, cost and failures of a run, and lists prices of GPUs. The functions have
// no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_

#include <span>
#include <string_view>
#include <vector>

namespace trainyard::planner {

// The on-demand price of one GPU for one hour, in US dollars.
struct CloudPrice {
  std::string_view cloud;
  std::string_view device;  // A name of KnownDevices().
  double low = 0;
  double high = 0;
  std::string_view date;  // "2026-05", or "undated".
  std::string_view source;
};
std::span<const CloudPrice> KnownPrices();
// Returns the known prices of a device in the order of the table.
std::vector<CloudPrice> PricesOf(std::string_view device);

// GPU-hours per unplanned stop: 419 stops in 54 days on 16,384 H100 GPUs (LLaMA 3, arXiv
// 2407.21783, section 3.3.4).
inline constexpr double kGpuHoursPerFailure = 54.0 * 24 * 16384 / 419;

// The durations of one stop and of one checkpoint.
struct Interruptions {
  double gpu_hours_per_failure = kGpuHoursPerFailure;
  double checkpoint_seconds = 30;  // Training is paused during this time.
  double restart_seconds = 300;    // From the stop until training continues.
};

// Predictions for a run that takes `work_seconds` without stops and checkpoints.
struct Reliability {
  double mean_seconds_between = 0;  // Time between two stops anywhere in the cluster.
  double failures = 0;              // The expected number of stops in `seconds`.
  double interval_seconds = 0;      // Between checkpoints.
  double goodput = 0;               // Share of the time spent on steps that are not lost.
  double seconds = 0;               // Duration of the run, including stops and checkpoints.
};

// Returns Young's optimal checkpoint interval sqrt(2 d M), where d is the duration of a checkpoint
// in seconds and M is the mean time between stops in seconds.
double YoungInterval(double checkpoint_seconds, double mean_seconds_between);
// Returns Daly's optimal checkpoint interval (Daly 2006, equation 37). Adds terms to Young's
// interval. The terms matter if d is not small compared to M.
double DalyInterval(double checkpoint_seconds, double mean_seconds_between);

// If `interval_seconds` is 0, uses Daly's interval. Assumes that stops occur at random (exponential
// distribution), even during checkpoints and restarts, and that each stop loses the steps since the
// last checkpoint (Daly 2006, section 2).
Reliability ReliabilityOf(double work_seconds, double gpus, double interval_seconds,
                          const Interruptions& interruptions);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_
