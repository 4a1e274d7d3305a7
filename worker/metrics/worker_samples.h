// Prometheus samples of the node, computed from the worker's statistics.
#ifndef TRAINYARD_WORKER_METRICS_WORKER_SAMPLES_H_
#define TRAINYARD_WORKER_METRICS_WORKER_SAMPLES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/metrics/metric_set.h"
#include "proto/support/rank_position.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node.pb.h"
#include "worker/core/attempts.h"
#include "worker/device/gpu_monitor.h"

namespace trainyard::worker {

// The numbers of facts since the worker's start.
struct FactTotals {
  int64_t starts = 0;
  // The number of starts of attempts other than the first attempt of their job.
  int64_t restarts = 0;
  // The number of exits for each reason.
  std::map<std::string, int64_t> exits = {
      {"completed", 0}, {"exited", 0}, {"signaled", 0}, {"out_of_memory", 0}, {"spawn_failed", 0}};

  void Count(const v1::Fact& fact);
};

struct RankStatistics {
  RankView view;
  std::string job_name;
  RankPosition position;
};

// Statistics published by the loop thread.
struct WorkerStatistics {
  std::string node;
  std::string version;
  v1::Inventory inventory;
  std::vector<RankStatistics> ranks;
  FactTotals facts;
  bool connected = false;
  // Number of Welcome messages received from the controller.
  int64_t connections = 0;
  int64_t unsent_facts = 0;
  int64_t in_flight_bytes = 0;
  int64_t shipped_log_bytes = 0;
  int64_t shipped_telemetry_bytes = 0;
  // The bytes of output that were dropped before the controller had stored them.
  int64_t lost_output_bytes = 0;
};

// Sizes on the disk that contains the data directory. Measured at each scrape.
struct SpoolStatistics {
  // The disk usage in bytes of the attempts' files. ForgetAttempt removes the files of an attempt.
  int64_t spool_bytes = 0;
  int64_t disk_free_bytes = 0;
};

// Pure.
void AddWorkerSamples(const WorkerStatistics& statistics, const SpoolStatistics& spool,
                      MetricSet& metrics);

// Adds one series for each GPU that a rank uses. The series has the GPU's UUID and the rank's
// labels. A query can therefore join the rank's labels with the measurements of DCGM or NVML.
void AddGpuAssignments(const WorkerStatistics& statistics, MetricSet& metrics);

// Adds the readings with the names, units and labels of NVIDIA's dcgm-exporter. For each GPU, adds
// whether the GPU responds. Pure.
void AddGpuSamples(const std::string& node, const std::vector<GpuReading>& gpus,
                   MetricSet& metrics);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_METRICS_WORKER_SAMPLES_H_
