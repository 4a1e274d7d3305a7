// Finds the best layout of a job on a cluster. The cluster need not exist. Has no side effects. May
// take seconds.
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
  kWrittenIfPossible,  // The job file's layout if it can run on the cluster, else the best one.
};

// The layout that the job file sets.
struct WrittenLayout {
  PlannedLayout planned;  // Has predictions only if `is_predicted`.
  bool is_predicted = false;
  // The reason why the layout cannot run on the cluster, and the fix. Empty if the layout can run.
  std::string problem;
  std::string advice;
};

struct LayoutPlan {
  RunConfig config;  // Resolved. Has the planned layout if there is one.
  Cluster cluster;
  LayoutSearch search;
  std::optional<LayoutProblem> problem;  // Set if the search found no layout.
  std::vector<std::string> warnings;     // Reasons why submit would refuse the job.
  std::string note;                      // Why the job file's layout is not planned.
  // Set if the job file sets a layout.
  std::optional<WrittenLayout> written;
  bool is_written = false;  // True if the job file's layout is planned instead of the best one.

  // May be called only if `problem` is not set.
  const PlannedLayout& Planned() const { return is_written ? written->planned : *search.best; }
};

// INVALID_ARGUMENT: an error of ClusterFor, the job has a command, or the device does not support
// the job's precision. If no layout fits, or the chosen layout cannot run, returns a plan with the
// reason.
absl::StatusOr<LayoutPlan> PlanLayout(const ResolvedSpec& resolved, const ClusterRequest& request,
                                      LayoutChoice choice = LayoutChoice::kBest);

// Searches for the layout based on `config` and `cluster`. Sets `search`, and either the layout in
// `config` or `problem`.
void FindLayout(LayoutPlan& plan);

// Returns the reason and the advice, one line each.
std::string ProblemText(const LayoutProblem& problem);

// Returns the reasons why layouts were not chosen, each with its number of layouts. The most
// frequent reason comes first.
std::vector<std::pair<std::string, int64_t>> ReasonsOf(const LayoutSearch& search);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_PLAN_H_
