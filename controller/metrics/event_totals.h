// Totals of the events committed since this process started. Each event is counted when it is
// committed.
#ifndef TRAINYARD_CONTROLLER_METRICS_EVENT_TOTALS_H_
#define TRAINYARD_CONTROLLER_METRICS_EVENT_TOTALS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// A job's series are exported for this long after the job's end.
inline constexpr int64_t kEndedJobKeptMs = 10 * 60 * 1000;

// The maximum number of names from trainers, such as alert codes, that are counted separately.
// Further names are counted as "other".
inline constexpr std::size_t kMaxNamesCounted = 32;

// Has no side effects. Not thread-safe.
class EventTotals {
 public:
  EventTotals();

  // Adds the jobs that ended shortly before this process started.
  void Restore(const ClusterState& state, Timestamp now);

  // Counts a committed event. `state` includes the event, and may include later events.
  void Count(const v1::Event& event, const ClusterState& state);

  // Removes and returns the jobs that ended more than kEndedJobKeptMs ago.
  std::vector<int64_t> ForgetEnded(Timestamp now);

  // Ordered by end time.
  const std::deque<std::pair<Timestamp, int64_t>>& ended_jobs() const { return ended_jobs_; }

  void AddSamples(MetricSet& metrics) const;
  // Adds the job's number of alerts by alert code.
  void AddJobSamples(int64_t job_id, const MetricLabels& labels, MetricSet& metrics) const;

 private:
  using Counts = std::map<std::string, int64_t>;

  static void CountName(const std::string& name, Counts& counts);
  void CountPlacement(const v1::Event& event, const ClusterState& state);

  Counts events_;
  Counts placements_;
  Counts restarts_;
  Counts failures_;
  Counts rollbacks_;
  Counts heals_;
  prometheus::Histogram heal_seconds_;
  Counts ended_;
  Counts alerts_;
  std::map<int64_t, Counts> alerts_of_job_;
  prometheus::Histogram queue_wait_;
  // Pairs of end time and job id.
  std::deque<std::pair<Timestamp, int64_t>> ended_jobs_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_EVENT_TOTALS_H_
