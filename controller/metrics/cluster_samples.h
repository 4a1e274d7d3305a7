// The cluster as Prometheus sees it: state and observations in, samples out.
#ifndef TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
#define TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_

#include <cstddef>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/metrics/event_totals.h"
#include "controller/metrics/training_totals.h"
#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Maximum numbers of jobs and nodes with series of their own; trainyard_series_omitted counts those
// without. So a scrape stays under about 100,000 lines in a cluster of any size.
inline constexpr std::size_t kMaxJobsExported = 1000;
inline constexpr std::size_t kMaxNodesExported = 5000;

struct ClusterSources {
  const ClusterState& state;
  const Observations& observations;
  const EventTotals& events;
  const TrainingTotals& training;
};

// Pure. Jobs: those that have not ended, running ones first, then those that ended up to
// kEndedJobKeptMs ago. No cost for jobs that ended earlier.
void AddClusterSamples(const ClusterSources& sources, Timestamp now, MetricSet& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_CLUSTER_SAMPLES_H_
