// The node as Prometheus sees it: figures in, samples out.
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

// Counted since the worker's start.
struct FactTotals {
  int64_t starts = 0;
  // Starts of an attempt after the first.
  int64_t restarts = 0;
  // By how the rank ended: completed, exited, signaled, out_of_memory, spawn_failed.
  std::map<std::string, int64_t> exits = {
      {"completed", 0}, {"exited", 0}, {"signaled", 0}, {"out_of_memory", 0}, {"spawn_failed", 0}};

  void Count(const v1::Fact& fact);
};

struct RankStatistics {
  RankView view;
  std::string job_name;
  RankPosition position;
};

// What the loop knows.
struct WorkerStatistics {
  std::string node;
  std::string version;
  v1::Inventory inventory;
  std::vector<RankStatistics> ranks;
  FactTotals facts;
  bool connected = false;
  // Welcomes of the controller.
  int64_t connections = 0;
  int64_t unsent_facts = 0;
  int64_t in_flight_bytes = 0;
  int64_t shipped_log_bytes = 0;
  int64_t shipped_telemetry_bytes = 0;
  // Output given up before the controller had stored it.
  int64_t lost_output_bytes = 0;
};

// What is measured at a scrape, on the disk of the data directory.
struct SpoolStatistics {
  // What the files of attempts that the controller has not told to forget take on disk.
  int64_t spool_bytes = 0;
  int64_t disk_free_bytes = 0;
};

// Pure.
void AddWorkerSamples(const WorkerStatistics& statistics, const SpoolStatistics& spool,
                      MetricSet& metrics);

// Which rank holds which GPU: joins what this product knows with what DCGM or NVML measure, by
// UUID.
void AddGpuAssignments(const WorkerStatistics& statistics, MetricSet& metrics);

// Readings under the names, units and labels of NVIDIA's dcgm-exporter, and whether each GPU
// answers. Pure.
void AddGpuSamples(const std::string& node, const std::vector<GpuReading>& gpus,
                   MetricSet& metrics);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_METRICS_WORKER_SAMPLES_H_
