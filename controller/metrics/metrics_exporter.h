// All metrics of the controller for GET /metrics.
#ifndef TRAINYARD_CONTROLLER_METRICS_METRICS_EXPORTER_H_
#define TRAINYARD_CONTROLLER_METRICS_METRICS_EXPORTER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/api/cluster_loop.h"
#include "controller/core/observations/observe.h"
#include "proto/metrics/metric_set.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Operations of the store that a caller waits for.
enum class StoreOperation { kAppendEvents, kWriteSnapshot, kAppendMetrics, kAppendLogs };

struct MetricsExporterOptions {
  std::string version;
  // Directory of the store's files; missing files are left out.
  std::string data_dir;
  // Further samples, asked for at each scrape on the scraping thread; may be empty.
  std::function<void(MetricSet& metrics)> more;
  // A snapshot that is younger is shown again, so that frequent scrapes cost the loop no more.
  std::chrono::milliseconds snapshot_min_age{500};
  // Longest time that a scrape waits for the loop.
  std::chrono::milliseconds loop_timeout{2000};
};

class MetricsExporter {
 public:
  // Before the loop starts: counts the loop's events from now on. `loop` outlives this.
  MetricsExporter(ClusterLoop& loop, const ClusterView& recovered, MetricsExporterOptions options);
  ~MetricsExporter();

  // Prometheus' text format. Waits for the loop to take a snapshot of the cluster; a loop that is
  // stuck leaves the newest snapshot there is, and trainyard_snapshot_age_seconds says how old it
  // is. Any thread but the loop's; after the loop has stopped it shows the last snapshot.
  std::string RenderMetrics();

  // Loop thread only: telemetry that was not received before.
  void ObserveTelemetry(const v1::TelemetryBatch& batch, Timestamp now);

  // Thread-safe; durations in seconds.
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
