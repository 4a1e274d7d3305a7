// Days, money and failures of a run: pure functions and a table of prices.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_

#include <span>
#include <string_view>
#include <vector>

namespace trainyard::planner {

// Of one GPU for one hour, in US dollars, on demand.
struct CloudPrice {
  std::string_view cloud;
  std::string_view device;  // A name of KnownDevices().
  double low = 0;
  double high = 0;
  std::string_view date;  // "2026-05", or "undated".
  std::string_view source;
};
std::span<const CloudPrice> KnownPrices();
// Those of a device, in the order of the table; empty where none is known.
std::vector<CloudPrice> PricesOf(std::string_view device);

// One unplanned stop in so many hours of one GPU: 419 in 54 days of 16,384 H100 (LLaMA 3, arXiv
// 2407.21783, section 3.3.4).
inline constexpr double kGpuHoursPerFailure = 54.0 * 24 * 16384 / 419;

// Seconds that one stop and one checkpoint take.
struct Interruptions {
  double gpu_hours_per_failure = kGpuHoursPerFailure;
  double checkpoint_seconds = 30;  // In which training waits.
  double restart_seconds = 300;    // From the stop until training goes on.
};

// A run of `work_seconds` without any stop or checkpoint.
struct Reliability {
  double mean_seconds_between = 0;  // Of the whole cluster.
  double failures = 0;              // Expected in the run as it is.
  double interval_seconds = 0;      // Between checkpoints.
  double goodput = 0;               // Part of the time in which steps that count are made.
  double seconds = 0;               // The run with its stops and checkpoints.
};

// Young's interval, sqrt(2 d M), for checkpoints of d seconds and M seconds between stops.
double YoungInterval(double checkpoint_seconds, double mean_seconds_between);
// Daly 2006, equation 37: Young's with the terms that matter where d is not small beside M.
double DalyInterval(double checkpoint_seconds, double mean_seconds_between);

// `interval_seconds`: 0 takes Daly's. Stops come at random (an exponential distribution), also
// during checkpoints and restarts; steps since the last checkpoint are lost (Daly 2006, section 2).
Reliability ReliabilityOf(double work_seconds, double gpus, double interval_seconds,
                          const Interruptions& interruptions);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_COST_H_
