// The cluster as seen by Prometheus: converts state and observations to samples.
#ifndef TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
#define TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_

#include <cstddef>

#include "controller/core/schedule/cluster_view.h"
#include "controller/metrics/event_totals.h"
#include "controller/metrics/training_totals.h"
#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Maximum numbers of jobs and nodes with their own series; trainyard_series_omitted counts the
// rest. This keeps a scrape below about 100,000 lines for any cluster size.
inline constexpr std::size_t kMaxJobsExported = 1000;
inline constexpr std::size_t kMaxNodesExported = 5000;

struct ClusterSources {
  const ClusterView& view;
  const EventTotals& events;
  const TrainingTotals& training;
};

// Pure. Exports jobs that have not ended, running ones first, then jobs that ended up to
// kEndedJobKeptMs ago. Jobs that ended earlier cost nothing.
void AddClusterSamples(const ClusterSources& sources, Timestamp now, MetricSet& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
