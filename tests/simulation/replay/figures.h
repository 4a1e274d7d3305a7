// Figures of a replay.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_FIGURES_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_FIGURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/replay/replay.h"
#include "tests/simulation/replay/trace.h"

namespace trainyard::replay {

struct WaitFigures {
  int64_t jobs = 0;
  double mean = 0;  // Seconds; 0 without jobs.
  double p90 = 0;
  double longest = 0;
};

// The classes of job sizes by GPUs: 1, 2 to 7, 8, 9 to 32, more.
inline constexpr int kSizeClasses = 5;
std::string NameOfSizeClass(int size_class);

struct ReplayFigures {
  WaitFigures all;
  WaitFigures eight_or_more;  // Jobs of at least 8 GPUs.
  WaitFigures by_size[kSizeClasses];
  double mean_residence = 0;  // Mean time from submission to end, in seconds.
  double utilization = 0;     // Used part of the GPU time within the window.
  // Jain's index of the queues, for each queue the quotient of its GPU time of running and of
  // waiting and running. 1: all queues wait equally long for their GPU time.
  double jain = 0;
  int64_t preemptions = 0;
  int64_t most_in_a_day = 0;  // Preemptions of one job within 24 hours.
  double restart_share = 0;   // Costs of restarts, as a part of the GPU time of all jobs.
};

// Computes the figures from the runs of all jobs. A job waits for its whole residence except its
// duration, so the wait contains the costs of restarts. The window of the utilization is [0,
// window).
ReplayFigures FiguresOf(const std::vector<TraceJob>& jobs, const std::vector<JobRun>& runs,
                        int cluster_gpus, int64_t window);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_FIGURES_H_
