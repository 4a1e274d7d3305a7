// Short ordinary jobs that a command submits, follows and measures: `smoke` and `tune`.
#ifndef TRAINYARD_CLI_COMMANDS_TRIAL_JOB_H_
#define TRAINYARD_CLI_COMMANDS_TRIAL_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "controller/planner/cluster.h"
#include "controller/planner/run_findings.h"
#include "controller/planner/step_time.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

struct TrialOptions {
  int64_t steps = 10;
  // Ends the job after these steps, so that it saves no checkpoint; else it runs to its end.
  bool kills = false;
};

// Values of the metrics by name, in the order of the steps.
using TrialMetrics = std::map<std::string, std::vector<double>>;

struct Trial {
  v1::Job job;  // As it ended, with its attempts and checkpoints.
  TrialMetrics metrics;
  bool killed = false;  // After its steps, as asked.

  // Why it ended before its steps; empty when it made them.
  std::string Failure() const;
};

// The job cut to a trial: so many steps behind each other, each logged, at the highest learning
// rate after a warm-up over all steps, without evaluations, restarts and ramp-up of the batch, and
// with one checkpoint at the end. `suffix` is added to its name. INVALID_ARGUMENT with all reasons
// when it could not start.
absl::StatusOr<ResolvedSpec> TrialSpec(const ResolvedSpec& resolved, const TrialOptions& options,
                                       const std::string& suffix);

// Submits the job, shows its progress on console.err, and waits for its end. CANCELLED after
// Ctrl-C: the job has been killed, and console.err says so.
absl::StatusOr<Trial> RunTrial(const ResolvedSpec& trial, const TrialOptions& options,
                               Context& context);

// Median over the steps behind the first few, in which caches and clocks settle; 0 without any.
double SettledMedian(const TrialMetrics& metrics, const std::string& name);

// Of a step, by the same medians; 0 for parts that the job does not report.
planner::StepTime MeasuredParts(const TrialMetrics& metrics);
planner::StepWaits MeasuredWaits(const TrialMetrics& metrics);

// The cluster of slots as those of the rank: with no device where its rates are not known.
struct TrialCluster {
  planner::Cluster cluster;
  std::string model;  // As its driver names it.
};
absl::StatusOr<TrialCluster> ClusterOfRank(const v1::RankPlacement& rank, const RunConfig& config,
                                           Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIAL_JOB_H_
