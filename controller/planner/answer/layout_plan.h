// The best layout of a job on a cluster that need not exist. Pure; may take seconds.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/planner/answer/cluster_request.h"
#include "controller/planner/described_run.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "proto/contract/run_config.h"
#include "proto/jobspec/loader.h"

namespace trainyard::planner {

enum class LayoutChoice {
  kBest,
  kWritten,            // The layout of the job file, also where it cannot run.
  kWrittenIfPossible,  // The layout of the job file where it can run on the cluster, else the best.
};

// The layout that the job file has.
struct WrittenLayout {
  PlannedLayout planned;  // Predictions only where `problem` is empty or a lack of memory.
  bool is_predicted = false;
  // Why it cannot run on the cluster, and what to change; empty where it can.
  std::string problem;
  std::string advice;
};

struct LayoutPlan {
  RunConfig config;      // Resolved; its layout is the planned one, where there is one.
  DescribedParts parts;  // Of a description; a job has none.
  bool is_described = false;
  Cluster cluster;
  LayoutSearch search;
  std::optional<LayoutProblem> problem;  // Set where the search found no layout.
  std::vector<std::string> warnings;     // Reasons why submit would refuse the job.
  std::string note;                      // Why the written layout is not the planned one.
  // Set where the job file sets its layout.
  std::optional<WrittenLayout> written;
  bool is_written = false;  // The written layout is planned, and not the best one.

  // The planned one. Requires that there is no problem.
  const PlannedLayout& Planned() const { return is_written ? written->planned : *search.best; }
};

// INVALID_ARGUMENT for what ClusterFor refuses, jobs with a command, and arithmetic that the device
// lacks. Where no layout fits, or the chosen one cannot run, the plan says why.
absl::StatusOr<LayoutPlan> PlanLayout(const ResolvedSpec& resolved, const ClusterRequest& request,
                                      LayoutChoice choice = LayoutChoice::kBest);

// The same of a description, which no submit takes: `warnings` begins with that. INVALID_ARGUMENT
// also where the description lacks what is needed.
absl::StatusOr<LayoutPlan> PlanDescribed(const DescribedRun& run, const ClusterRequest& request);

// ": it lacks mixtures of experts, FP8 arithmetic", or "" where the description says no such thing.
std::string LackingText(const DescribedParts& parts);

// Fills in search, and layout or problem, by config, parts and cluster.
void FindLayout(LayoutPlan& plan);

// Reason and advice, a line each.
std::string ProblemText(const LayoutProblem& problem);

// Reasons why layouts were not chosen with their numbers, the most frequent first.
std::vector<std::pair<std::string, int64_t>> ReasonsOf(const LayoutSearch& search);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_
