// Forecasts when waiting jobs start: the passes of the scheduler are made in advance, on a copy of
// the state, at the times at which running jobs are expected to end.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_FORECAST_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_FORECAST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "controller/core/observations/root_sightings.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The maximum number of nodes and of jobs that have not ended, together. A larger state is not
// copied, because the loop thread makes the copy: it takes about 5 us per node or job.
inline constexpr std::size_t kForecastEntries = 8'000;

// The source from which the end of a job is known, best first.
enum class EndBasis {
  kPredicted,  // From its remaining steps.
  kUsual,      // From ended jobs (usual_run_times.h).
  kLimit,      // From its time limit only. Most jobs end long before it.
};

struct ForecastedRun {
  int64_t ms = 0;
  EndBasis basis = EndBasis::kPredicted;
};

// A copy of everything that a forecast reads, so that another thread can make it.
struct ForecastInput {
  // The state, without ended jobs and without history.
  ClusterState state;
  RootSightings roots;
  CoreOptions options;
  // The end that passes expect for each job with a live attempt (ExpectedEnds).
  std::map<int64_t, Timestamp> ends;
  // The times for which jobs run in the forecast, from now on or from their next start on. Jobs
  // without an entry run until their expected ends or time limits.
  std::map<int64_t, ForecastedRun> runs;
  Timestamp now = 0;
};

// Returns the input, in which jobs run for usual times if only their time limits are known. Returns
// nullopt if there are more than kForecastEntries nodes and open jobs, or if no job may be placed
// yet (Schedule::awaits_workers).
std::optional<ForecastInput> CopyForForecast(const ClusterView& view);

// Copies the state only. Used where the ends of jobs are known otherwise.
ClusterState CopyWithoutHistory(const ClusterState& state);

struct ForecastLimits {
  // The maximum number of passes.
  int passes = 2'000;
  // Called before each pass. If it returns true, the forecast ends. nullptr: never.
  std::function<bool()> is_over = nullptr;
};

// The expected start of a waiting job.
struct ForecastedStart {
  Timestamp time = 0;
  // The worst basis of the ends before the start.
  EndBasis basis = EndBasis::kPredicted;
  friend bool operator==(const ForecastedStart&, const ForecastedStart&) = default;
};

// The expected start of each job that waits now. Jobs that do not start within the limits of the
// forecast, or within 30 days, are missing.
using ForecastedStarts = std::map<int64_t, ForecastedStart>;

// Assumes that each `layout: auto` finds a layout, that no job is submitted, and that no node
// changes. Equal input gives an equal result.
ForecastedStarts ForecastStarts(ForecastInput input, const ForecastLimits& limits = {});

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_FORECAST_H_
