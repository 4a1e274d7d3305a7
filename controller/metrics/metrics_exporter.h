// All metrics of the controller for GET /metrics.
#ifndef TRAINYARD_CONTROLLER_METRICS_METRICS_EXPORTER_H_
#define TRAINYARD_CONTROLLER_METRICS_METRICS_EXPORTER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/api/context/cluster_loop.h"
#include "controller/core/observations/observe.h"
#include "proto/metrics/metric_set.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// The store operations that block their caller.
enum class StoreOperation { kAppendEvents, kWriteSnapshot, kAppendMetrics, kAppendLogs };

struct MetricsExporterOptions {
  std::string version;
  // The directory of the store's files. Missing files are skipped.
  std::string data_dir;
  // Adds further samples at each scrape, on the scraping thread. May be unset.
  std::function<void(MetricSet& metrics)> more;
  // A snapshot below this age is reused, so that frequent scrapes do not load the loop thread.
  std::chrono::milliseconds snapshot_min_age{500};
  // The maximum time that a scrape waits for the loop.
  std::chrono::milliseconds loop_timeout{2000};
};

class MetricsExporter {
 public:
  // Construct before the loop starts, because the exporter counts the loop's events from then on.
  // `loop` must outlive this object.
  MetricsExporter(ClusterLoop& loop, const ClusterView& recovered, MetricsExporterOptions options);
  ~MetricsExporter();

  // Returns the metrics in Prometheus' text format. Waits until the loop has taken a snapshot of
  // the cluster. If the loop has stopped or does not respond, uses the latest snapshot, whose age
  // is exported as trainyard_snapshot_age_seconds. May be called on any thread except the loop's.
  std::string RenderMetrics();

  // Records new telemetry. Telemetry that arrives twice must be passed only once. Call on the loop
  // thread.
  void ObserveTelemetry(const v1::TelemetryBatch& batch, Timestamp now);

  // Thread-safe. Durations are in seconds.
  void ObserveCycle(double seconds);
  void ObserveStore(StoreOperation operation, double seconds);
  void ObserveCall(const std::string& method, const std::string& code, double seconds);
  void ObserveRequest(const std::string& route, const std::string& status, double seconds);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_METRICS_EXPORTER_H_
