// The best layout of a job on a cluster that need not exist. Pure; may take seconds.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/planner/answer/cluster_request.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "proto/contract/run_config.h"
#include "proto/jobspec/loader.h"

namespace trainyard::planner {

enum class LayoutChoice {
  kBest,
  kWritten,            // The job file's layout, even if it cannot run.
  kWrittenIfPossible,  // The job file's layout if it can run on the cluster, else the best.
};

// The job file's layout.
struct WrittenLayout {
  PlannedLayout planned;  // Has predictions only if `is_predicted`.
  bool is_predicted = false;
  // Why the layout cannot run on the cluster, and the fix; empty if it can run.
  std::string problem;
  std::string advice;
};

struct LayoutPlan {
  RunConfig config;  // Resolved, with the planned layout, if any.
  Cluster cluster;
  LayoutSearch search;
  std::optional<LayoutProblem> problem;  // Set if the search found no layout.
  std::vector<std::string> warnings;     // Reasons why submit would refuse the job.
  std::string note;                      // Why the written layout is not the planned one.
  // Set if the job file sets its layout.
  std::optional<WrittenLayout> written;
  bool is_written = false;  // The written layout is planned instead of the best one.

  // The planned layout. Requires that there is no problem.
  const PlannedLayout& Planned() const { return is_written ? written->planned : *search.best; }
};

// INVALID_ARGUMENT for the errors of ClusterFor, for jobs with a command, and for arithmetic not
// supported by the device. If no layout fits, or the chosen one cannot run, the plan states the
// reason.
absl::StatusOr<LayoutPlan> PlanLayout(const ResolvedSpec& resolved, const ClusterRequest& request,
                                      LayoutChoice choice = LayoutChoice::kBest);

// Sets `search`, and the layout or `problem`, from config and cluster.
void FindLayout(LayoutPlan& plan);

// Reason and advice, one line each.
std::string ProblemText(const LayoutProblem& problem);

// Reasons why layouts were not chosen, with their counts, most frequent first.
std::vector<std::pair<std::string, int64_t>> ReasonsOf(const LayoutSearch& search);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_
