// Short ordinary jobs that a command submits, follows and measures, for `smoke` and `tune`.
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
  // Kills the job after these steps, so that it saves no checkpoint; otherwise it runs to its end.
  bool kills = false;
};

// Metric values by name, in step order.
using TrialMetrics = std::map<std::string, std::vector<double>>;

struct Trial {
  v1::Job job;  // Final state, with attempts and checkpoints.
  TrialMetrics metrics;
  bool killed = false;  // Killed after its steps, as requested.

  // Reason why it ended before completing its steps; empty if it completed them.
  std::string Failure() const;
};

// The job reduced to a trial: `steps` steps, each logged, at the highest learning rate after a
// warm-up over all steps, without evaluations, restarts or batch ramp-up, and with one checkpoint
// at the end. `suffix` is added to its name. INVALID_ARGUMENT with all reasons if it could not
// start.
absl::StatusOr<ResolvedSpec> TrialSpec(const ResolvedSpec& resolved, const TrialOptions& options,
                                       const std::string& suffix);

// Submits the job, shows its progress on console.err, and waits until it ends. CANCELLED after
// Ctrl-C: the job was killed, and console.err reports it.
absl::StatusOr<Trial> RunTrial(const ResolvedSpec& trial, const TrialOptions& options,
                               Context& context);

// Median without the first steps, in which caches and clocks settle; 0 without any.
double SettledMedian(const TrialMetrics& metrics, const std::string& name);

// Parts of a step, by the same medians; 0 for parts that the job does not report.
planner::StepTime MeasuredParts(const TrialMetrics& metrics);
planner::StepWaits MeasuredWaits(const TrialMetrics& metrics);

// A cluster of slots like the slot of the rank. It has no device if the device's rates are unknown.
struct TrialCluster {
  planner::Cluster cluster;
  std::string model;  // As reported by its driver.
};
absl::StatusOr<TrialCluster> ClusterOfRank(const v1::RankPlacement& rank, const RunConfig& config,
                                           Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_JOB_H_
