// Adds Prometheus samples of single parts of the controller, such as its TLS certificate.
#ifndef TRAINYARD_CONTROLLER_PART_SAMPLES_H_
#define TRAINYARD_CONTROLLER_PART_SAMPLES_H_

#include <optional>
#include <vector>

#include "controller/api/context/storage_health.h"
#include "controller/http/dashboard.h"
#include "controller/loop/ingest.h"
#include "controller/retention/pruner.h"
#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

void AddIngestSamples(const IngestStatistics& statistics, MetricSet& metrics);
void AddStorageSamples(const StorageHealth& health, MetricSet& metrics);
void AddSpaceSamples(const SpaceReport& space, MetricSet& metrics);
void AddScrubSamples(const std::vector<v1::StoreScrub>& scrubs, MetricSet& metrics);
void AddStreamSamples(const http::StreamStatistics& statistics, MetricSet& metrics);
// Adds the term of the leader and, if the stores are in a database server, its state and the number
// of standbys.
void AddDatabaseSamples(const v1::GetServerInfoResponse& info, MetricSet& metrics);
// Adds the expiry time of the TLS certificate. Adds nothing without TLS.
void AddCertificateSample(std::optional<Timestamp> expires_ms, MetricSet& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PART_SAMPLES_H_
