// GET /metrics of the worker: a small listener with its own threads.
#ifndef TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_
#define TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/metrics/worker_samples.h"

namespace trainyard::worker {

struct MetricsServerOptions {
  // IP:PORT; port 0 picks a free one.
  std::string listen;
  std::string data_dir;
  // Measures GPUs through NVML. Turn it off if dcgm-exporter runs, or every value would exist
  // twice.
  bool gpu_metrics = true;
  std::string nvml_library = "libnvidia-ml.so.1";
};

class MetricsServer {
 public:
  // Listens and serves. INVALID_ARGUMENT: `listen` is not an address. UNAVAILABLE: cannot listen on
  // the address. The messages name the remedy.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(MetricsServerOptions options);
  ~MetricsServer();

  // IP:PORT with the actual port.
  const std::string& address() const;

  // Sets the statistics for subsequent scrapes. Any thread; never waits for a scrape.
  void Publish(WorkerStatistics statistics);

 private:
  struct Parts;
  explicit MetricsServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_METRICS_METRICS_SERVER_H_
