#include "controller/part_samples.h"

#include <algorithm>
#include <map>
#include <string>

#include "controller/api/cluster/database_checks.h"

namespace trainyard::controller {
namespace {

constexpr MetricInfo kQueuedItems{"trainyard_ingest_queue_items",
                                  "Telemetry and log chunks waiting to be written."};
constexpr MetricInfo kQueuedBytes{"trainyard_ingest_queue_bytes",
                                  "Bytes of telemetry and logs waiting to be written."};
constexpr MetricInfo kIngestBytes{"trainyard_ingest_bytes_total",
                                  "Bytes of telemetry and output that were stored.",
                                  prometheus::MetricType::Counter};
constexpr MetricInfo kIngestPoints{"trainyard_ingest_points_total", "Metric points stored.",
                                   prometheus::MetricType::Counter};
constexpr MetricInfo kStoreFailing{
    "trainyard_store_failing",
    "1 while writes to this store fail or this store is damaged, else 0."};
constexpr MetricInfo kIngestFailures{
    "trainyard_ingest_failed_writes_total",
    "Failed writes of telemetry and output. The controller retries each of them.",
    prometheus::MetricType::Counter};

constexpr MetricInfo kStoreUsed{"trainyard_store_used_bytes", "Bytes of data in this store."};
constexpr MetricInfo kStoreBound{
    "trainyard_store_bound_bytes",
    "Size of this store beyond which data of ended jobs is removed; 0: no limit."};
constexpr MetricInfo kCertificateExpires{
    "trainyard_tls_certificate_expiry_timestamp_seconds",
    "When the controller's TLS certificate expires, Unix seconds; absent without TLS."};
constexpr MetricInfo kScrubDamaged{
    "trainyard_store_damaged_pages",
    "Damaged pages found by the current or last pass of the background check."};
constexpr MetricInfo kScrubFinished{"trainyard_store_checked_timestamp_seconds",
                                    "When the background check last finished reading all pages of "
                                    "this store, Unix seconds; 0 if it has never finished."};
constexpr MetricInfo kStreams{"trainyard_http_streams", "Open event streams of dashboards."};
constexpr MetricInfo kStreamsDropped{"trainyard_http_streams_dropped_total",
                                     "Event streams closed because the client was too slow.",
                                     prometheus::MetricType::Counter};

constexpr MetricInfo kLeaderTerm{
    "trainyard_leader_term",
    "Term of the leading controller. A take-over by another controller begins the next term."};
constexpr MetricInfo kStandbyControllers{
    "trainyard_standby_controllers",
    "Standbys that can take over: their newest report in the database is recent."};
constexpr MetricInfo kStandbyBehind{
    "trainyard_standby_behind_events",
    "Most events of the log that a standby with recent reports has not applied in advance."};
constexpr MetricInfo kDatabaseRead{
    "trainyard_database_readable",
    "1 if the newest read of the state of the database server succeeded, else 0."};
constexpr MetricInfo kDatabaseDurable{
    "trainyard_database_durable",
    "0 if a crash of the database server can lose acknowledged changes by its settings, else 1."};
constexpr MetricInfo kDatabaseSize{"trainyard_database_size_bytes",
                                   "Size of the whole PostgreSQL database."};
constexpr MetricInfo kDatabaseConnections{
    "trainyard_database_connections",
    "Connections in use, of the limit that is closest to being reached."};
constexpr MetricInfo kDatabaseConnectionsMax{
    "trainyard_database_connections_max",
    "The limit on connections that is closest to being reached: of server, user or database."};
constexpr MetricInfo kDatabaseReplicas{
    "trainyard_database_replicas",
    "Connected replicas of the database server, by synchronous state (unknown without the right)."};
constexpr MetricInfo kReplicaLag{"trainyard_database_replica_lag_seconds",
                                 "Longest delay until recent changes were applied by a replica."};
constexpr MetricInfo kReplicaBehind{
    "trainyard_database_replica_behind_bytes",
    "Most bytes of the write-ahead log that a replica has not applied."};

// The facts are as old as their newest read, so reports count from that time.
void AddStandbySamples(const v1::GetServerInfoResponse& info, MetricSet& metrics) {
  int ready = 0;
  uint64_t behind = 0;
  for (const v1::StandbyController& standby : info.standbys()) {
    if (!IsReady(standby, info.database().read_ms())) continue;
    ++ready;
    const uint64_t newest = info.database().newest_event();
    if (standby.position() == 0 || standby.position() >= newest) continue;
    behind = std::max(behind, newest - standby.position());
  }
  metrics.Add(kStandbyControllers, {}, ready);
  metrics.Add(kStandbyBehind, {}, static_cast<double>(behind));
}

void AddReplicaSamples(const v1::DatabaseStatus& database, MetricSet& metrics) {
  std::map<std::string, int> by_state;
  int64_t lag_ms = 0;
  int64_t behind_bytes = 0;
  for (const v1::DatabaseReplica& replica : database.replicas()) {
    ++by_state[replica.sync_state().empty() ? "unknown" : replica.sync_state()];
    lag_ms = std::max(lag_ms, replica.lag_ms());
    behind_bytes = std::max(behind_bytes, replica.behind_bytes());
  }
  for (const auto& [state, count] : by_state) {
    metrics.Add(kDatabaseReplicas, {{"sync_state", state}}, count);
  }
  if (database.replicas().empty() || !database.replicas_readable()) return;
  metrics.Add(kReplicaLag, {}, static_cast<double>(lag_ms) / 1000);
  metrics.Add(kReplicaBehind, {}, static_cast<double>(behind_bytes));
}

}  // namespace

void AddIngestSamples(const IngestStatistics& statistics, MetricSet& metrics) {
  metrics.Add(kQueuedItems, {}, static_cast<double>(statistics.queued_items));
  metrics.Add(kQueuedBytes, {}, static_cast<double>(statistics.queued_bytes));
  metrics.Add(kIngestBytes, {{"kind", "telemetry"}},
              static_cast<double>(statistics.telemetry_bytes));
  metrics.Add(kIngestBytes, {{"kind", "log"}}, static_cast<double>(statistics.log_bytes));
  metrics.Add(kIngestPoints, {}, static_cast<double>(statistics.points));
  metrics.Add(kIngestFailures, {}, static_cast<double>(statistics.failed_writes));
}

void AddStorageSamples(const StorageHealth& health, MetricSet& metrics) {
  for (const StoreName store : kStoreNames) {
    metrics.Add(kStoreFailing, {{"database", NameOf(store)}}, health.Works(store) ? 0 : 1);
  }
}

void AddSpaceSamples(const SpaceReport& space, MetricSet& metrics) {
  for (const StoreSpaceUse& store : space.stores) {
    const auto used = static_cast<double>(store.usage.used_bytes);
    metrics.Add(kStoreUsed, {{"database", store.store}}, used);
    metrics.Add(kStoreBound, {{"database", store.store}}, static_cast<double>(store.bound_bytes));
  }
}

void AddScrubSamples(const std::vector<v1::StoreScrub>& scrubs, MetricSet& metrics) {
  for (const v1::StoreScrub& scrub : scrubs) {
    metrics.Add(kScrubDamaged, {{"database", scrub.store()}},
                static_cast<double>(scrub.damaged_pages()));
    metrics.Add(kScrubFinished, {{"database", scrub.store()}},
                static_cast<double>(scrub.finished_ms()) / 1000);
  }
}

void AddStreamSamples(const http::StreamStatistics& statistics, MetricSet& metrics) {
  metrics.Add(kStreams, {}, statistics.open);
  metrics.Add(kStreamsDropped, {}, static_cast<double>(statistics.dropped));
}

void AddDatabaseSamples(const v1::GetServerInfoResponse& info, MetricSet& metrics) {
  metrics.Add(kLeaderTerm, {}, static_cast<double>(info.leadership().term()));
  if (!info.has_database()) return;
  const v1::DatabaseStatus& database = info.database();
  metrics.Add(kDatabaseRead, {}, database.error().empty() ? 1 : 0);
  if (database.read_ms() == 0) return;
  AddStandbySamples(info, metrics);
  metrics.Add(kDatabaseDurable, {}, SurvivesCrash(database) ? 1 : 0);
  metrics.Add(kDatabaseSize, {}, static_cast<double>(database.size_bytes()));
  metrics.Add(kDatabaseConnections, {}, static_cast<double>(database.connections()));
  metrics.Add(kDatabaseConnectionsMax, {}, static_cast<double>(database.connections_max()));
  AddReplicaSamples(database, metrics);
}

void AddCertificateSample(std::optional<Timestamp> expires_ms, MetricSet& metrics) {
  if (!expires_ms.has_value()) return;
  metrics.Add(kCertificateExpires, {}, static_cast<double>(*expires_ms) / 1000);
}

}  // namespace trainyard::controller
