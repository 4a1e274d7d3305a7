// For how long jobs usually run, judged by jobs that have ended. Most jobs end long before their
// time limits.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_USUAL_RUN_TIMES_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_USUAL_RUN_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

class UsualRunTimes {
 public:
  // The least number of ended jobs from which the rest of a run is judged.
  static constexpr std::size_t kLeastJobs = 8;

  // Adds a job with this time limit that has ended after a run of `ran_ms`.
  void Add(int64_t limit_ms, int64_t ran_ms);

  // Returns the time for which a job that has run for `ran_ms` usually continues to run: the median
  // of ended jobs that ran longer and had a similar time limit. Returns the rest of the limit if
  // fewer than kLeastJobs such jobs are known.
  int64_t RestMs(int64_t limit_ms, int64_t ran_ms) const;

 private:
  // Limits are similar if their whole binary logarithms are equal.
  static int ClassOfLimit(int64_t limit_ms);

  // The run times by the class of the limit, in order.
  std::map<int, std::vector<int64_t>> ran_ms_;
};

// Returns the run times of the ended jobs in the state that had a time limit.
UsualRunTimes UsualRunTimesOf(const ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_USUAL_RUN_TIMES_H_
