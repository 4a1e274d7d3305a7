// GET /metrics of the worker: a small listener with its own threads.
#ifndef TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_
#define TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/metrics/worker_samples.h"

namespace trainyard::worker {

struct MetricsServerOptions {
  // IP:PORT to listen on; port 0 selects a free port.
  std::string listen;
  std::string data_dir;
  // True to measure GPUs through NVML. Set to false if dcgm-exporter runs, because every value
  // would otherwise exist twice.
  bool gpu_metrics = true;
  std::string nvml_library = "libnvidia-ml.so.1";
};

class MetricsServer {
 public:
  // Starts to listen and to serve. INVALID_ARGUMENT: `listen` is not an address. UNAVAILABLE:
  // cannot listen on the address. The messages contain the remedy.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(MetricsServerOptions options);
  ~MetricsServer();

  // IP:PORT that the server listens on, with the actual port instead of 0.
  const std::string& address() const;

  // Sets the statistics for later scrapes. Never waits for a scrape. May be called on any thread.
  void Publish(WorkerStatistics statistics);

 private:
  struct Parts;
  explicit MetricsServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_
