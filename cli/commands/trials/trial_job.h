// Short jobs (trials) for `smoke` and `tune`. The command submits a trial as an ordinary job,
// follows it and measures it.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_JOB_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/context/context.h"
#include "controller/planner/cluster.h"
#include "controller/planner/run_findings.h"
#include "controller/planner/step_time.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

struct TrialOptions {
  int64_t steps = 10;
  // True: kill the job after its steps, so that it saves no checkpoint. False: let the job run to
  // its end.
  bool kills = false;
};

// Maps the name of each metric to the metric's values in step order.
using TrialMetrics = std::map<std::string, std::vector<double>>;

struct Trial {
  v1::Job job;  // In its final state, with attempts and checkpoints.
  TrialMetrics metrics;
  bool killed = false;  // True if the job was killed after its steps, as requested.

  // The reason why the job ended before it had completed its steps; empty if it completed them.
  std::string Failure() const;
};

// Reduces the job to a trial of `steps` steps. Each step is logged. Over these steps, the learning
// rate rises to its peak. A trial has no evaluations, restarts or batch ramp-up, and saves one
// checkpoint at its end. Appends `suffix` to the job's name. Returns INVALID_ARGUMENT with all
// reasons if the trial could not start.
absl::StatusOr<ResolvedSpec> TrialSpec(const ResolvedSpec& resolved, const TrialOptions& options,
                                       const std::string& suffix);

// Submits the job, shows its progress on console.err, and waits for its end. If interrupted by
// Ctrl-C, kills the job, reports this on console.err and returns CANCELLED.
absl::StatusOr<Trial> RunTrial(const ResolvedSpec& trial, const TrialOptions& options,
                               Context& context);

// Returns the median over all steps except the first steps, in which caches and clocks have not
// settled. Returns 0 if there are no values.
double SettledMedian(const TrialMetrics& metrics, const std::string& name);

// Returns the times of the parts of a step, each as a SettledMedian; 0 for parts that the job does
// not report.
planner::StepTime MeasuredParts(const TrialMetrics& metrics);
planner::StepWaits MeasuredWaits(const TrialMetrics& metrics);

// A cluster on which all slots are like the slot of the reporting rank. The cluster has no device
// if the planner does not know the device's performance.
struct TrialCluster {
  planner::Cluster cluster;
  std::string model;  // Model name as reported by the GPU's driver.
};
absl::StatusOr<TrialCluster> ClusterOfRank(const v1::RankPlacement& rank, const RunConfig& config,
                                           Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_JOB_H_
