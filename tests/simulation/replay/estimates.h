// Measures the errors of forecasted starts in a replay.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_ESTIMATES_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_ESTIMATES_H_

#include <cstdint>
#include <vector>

#include "tests/simulation/replay/core_policy.h"
#include "tests/simulation/replay/trace.h"

namespace trainyard::replay {

struct EstimateFigures {
  int64_t waiting_jobs = 0;  // Jobs that waited at least 10 minutes.
  // For the jobs that were asked about, the estimated wait from half of the true wait on, divided
  // by the true one, ascending. Jobs without an estimate are missing.
  std::vector<double> ratios;
  int64_t asked = 0;

  // The part of the jobs asked about whose ratio is in this range.
  double ShareWithin(double low, double high) const;
  // The ratio below which this part of the ratios is. NaN without ratios.
  double Quantile(double part) const;
};

struct EstimateSample {
  // Every n-th of the jobs that waited at least 10 minutes is asked about.
  int64_t every = 1;
  RunTimes run_times = RunTimes::kKnown;
};

// Replays the jobs twice under the scheduler of the core: once to learn when each job starts, and
// once to ask for an estimate at half of its wait.
EstimateFigures MeasureEstimates(const std::vector<TraceJob>& jobs, int nodes, int gpus_per_node,
                                 const EstimateSample& sample);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_ESTIMATES_H_
