// Converts the cluster's state and observations to Prometheus samples.
#ifndef TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
#define TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_

#include <cstddef>

#include "controller/core/schedule/cluster_view.h"
#include "controller/metrics/event_totals.h"
#include "controller/metrics/training_totals.h"
#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// At most this many jobs and nodes get their own series. The limits keep a scrape below about
// 100,000 lines for any cluster size. trainyard_series_omitted counts the other jobs and nodes.
inline constexpr std::size_t kMaxJobsExported = 1000;
inline constexpr std::size_t kMaxNodesExported = 5000;

struct ClusterSources {
  const ClusterView& view;
  const EventTotals& events;
  const TrainingTotals& training;
};

// Exports running jobs first, then other jobs that have not ended, then jobs that ended at most
// kEndedJobKeptMs ago. Does not visit jobs that ended earlier. Has no side effects.
void AddClusterSamples(const ClusterSources& sources, Timestamp now, MetricSet& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
