#include "worker/metrics/worker_samples.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kBuildInfo{"trainyard_build_info",
                                "Always 1; the labels describe the running build."};
constexpr MetricInfo kProcesses{"trainyard_worker_processes", "Ranks of live attempts, by state."};
constexpr MetricInfo kStarts{"trainyard_worker_process_starts_total", "Ranks started.",
                             MetricType::Counter};
constexpr MetricInfo kRestarts{"trainyard_worker_process_restarts_total",
                               "Ranks started for a second or later attempt of a job.",
                               MetricType::Counter};
constexpr MetricInfo kExits{"trainyard_worker_process_exits_total", "Ended ranks, by kind of exit.",
                            MetricType::Counter};
constexpr MetricInfo kConnected{"trainyard_worker_connected",
                                "1 while the stream to the controller is open, else 0."};
constexpr MetricInfo kConnections{
    "trainyard_worker_connections_total",
    "Number of times that the controller accepted a connection from this worker.",
    MetricType::Counter};
constexpr MetricInfo kUnsentFacts{"trainyard_worker_unacknowledged_facts",
                                  "Facts on disk that the controller has not stored yet."};
constexpr MetricInfo kInFlight{
    "trainyard_worker_in_flight_bytes",
    "Bytes of output and telemetry that were sent but not yet stored by the controller."};
constexpr MetricInfo kShipped{"trainyard_worker_shipped_bytes_total",
                              "Bytes of output and telemetry that the controller has stored.",
                              MetricType::Counter};
constexpr MetricInfo kLostOutput{
    "trainyard_worker_lost_output_bytes_total",
    "Bytes of output dropped for lack of disk space before the controller had stored them.",
    MetricType::Counter};
constexpr MetricInfo kSpool{"trainyard_worker_spool_bytes",
                            "Size of the output and telemetry of attempts on this disk."};
constexpr MetricInfo kDiskFree{"trainyard_worker_disk_free_bytes",
                               "Free space on the file system of the data directory."};
constexpr MetricInfo kSlots{"trainyard_worker_slots", "Slots by kind and state: free or used."};
constexpr MetricInfo kAssignment{"trainyard_gpu_assignment_info",
                                 "1 for each GPU used by a rank. The label UUID has the same form "
                                 "as in dcgm-exporter, so that queries can join the two."};
constexpr MetricInfo kHealthy{"trainyard_worker_gpu_healthy",
                              "1 while NVML reads the GPU without error, else 0."};

struct ReadingInfo {
  std::optional<double> GpuReading::*value;
  MetricInfo info;
};

// The names and units are those of dcgm-exporter, so that dashboards made for it work unchanged.
constexpr ReadingInfo kReadings[] = {
    {&GpuReading::utilization_percent, {"DCGM_FI_DEV_GPU_UTIL", "GPU utilization, percent."}},
    {&GpuReading::memory_utilization_percent,
     {"DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization, percent."}},
    {&GpuReading::memory_used_mib, {"DCGM_FI_DEV_FB_USED", "Memory in use, MiB."}},
    {&GpuReading::memory_free_mib, {"DCGM_FI_DEV_FB_FREE", "Memory free, MiB."}},
    {&GpuReading::temperature_celsius, {"DCGM_FI_DEV_GPU_TEMP", "GPU temperature, Celsius."}},
    {&GpuReading::memory_temperature_celsius,
     {"DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature, Celsius."}},
    {&GpuReading::power_watts, {"DCGM_FI_DEV_POWER_USAGE", "Power draw, watts."}},
    {&GpuReading::energy_millijoules,
     {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy since the driver was loaded, mJ.",
      MetricType::Counter}},
    {&GpuReading::sm_clock_mhz, {"DCGM_FI_DEV_SM_CLOCK", "SM clock, MHz."}},
    {&GpuReading::memory_clock_mhz, {"DCGM_FI_DEV_MEM_CLOCK", "Memory clock, MHz."}},
    {&GpuReading::last_xid,
     {"DCGM_FI_DEV_XID_ERRORS", "Newest XID error since the worker's start; 0 when none."}},
    {&GpuReading::pcie_replays,
     {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe retries.", MetricType::Counter}},
    {&GpuReading::ecc_corrected_volatile,
     {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected ECC errors since the driver was loaded.",
      MetricType::Counter}},
    {&GpuReading::ecc_uncorrected_volatile,
     {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected ECC errors since the driver was loaded.",
      MetricType::Counter}},
    {&GpuReading::ecc_corrected_aggregate,
     {"DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "Corrected ECC errors over the GPU's lifetime.",
      MetricType::Counter}},
    {&GpuReading::ecc_uncorrected_aggregate,
     {"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "Uncorrected ECC errors over the GPU's lifetime.",
      MetricType::Counter}},
    {&GpuReading::remapped_rows_uncorrected,
     {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped for uncorrectable errors.",
      MetricType::Counter}},
    {&GpuReading::row_remap_failed,
     {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "1 when a row remapping failed, else 0."}},
};

const char* ExitReason(const v1::RankExited& exited) {
  if (!exited.spawn_error().empty()) return "spawn_failed";
  if (exited.out_of_memory()) return "out_of_memory";
  if (exited.signal() != 0) return "signaled";
  return exited.exit_code() == 0 ? "completed" : "exited";
}

const char* KindName(v1::DeviceKind kind) { return kind == v1::DEVICE_KIND_GPU ? "gpu" : "cpu"; }

const v1::Slot* SlotOf(const WorkerStatistics& statistics, const RankStatistics& rank) {
  const int slot = rank.view.slot;
  if (slot < 0 || slot >= statistics.inventory.slots_size()) return nullptr;
  return &statistics.inventory.slots(slot);
}

void AddProcesses(const WorkerStatistics& statistics, MetricSet& metrics) {
  std::map<std::string, int> states = {
      {"waiting", 0}, {"starting", 0}, {"running", 0}, {"exiting", 0}, {"ended", 0}};
  for (const RankStatistics& rank : statistics.ranks) ++states[rank.view.state];
  for (const auto& [state, count] : states) metrics.Add(kProcesses, {{"state", state}}, count);
  metrics.Add(kStarts, {}, static_cast<double>(statistics.facts.starts));
  metrics.Add(kRestarts, {}, static_cast<double>(statistics.facts.restarts));
  for (const auto& [reason, count] : statistics.facts.exits) {
    metrics.Add(kExits, {{"reason", reason}}, static_cast<double>(count));
  }
}

void AddSlots(const WorkerStatistics& statistics, MetricSet& metrics) {
  std::map<std::string, int> total;
  std::map<std::string, std::set<int>> used;
  for (const v1::Slot& slot : statistics.inventory.slots()) ++total[KindName(slot.kind())];
  for (const RankStatistics& rank : statistics.ranks) {
    const v1::Slot* slot = SlotOf(statistics, rank);
    if (slot != nullptr) used[KindName(slot->kind())].insert(slot->index());
  }
  for (const auto& [kind, count] : total) {
    const int busy = static_cast<int>(used[kind].size());
    metrics.Add(kSlots, {{"kind", kind}, {"state", "free"}}, count - busy);
    metrics.Add(kSlots, {{"kind", kind}, {"state", "used"}}, busy);
  }
}

}  // namespace

void FactTotals::Count(const v1::Fact& fact) {
  if (fact.has_rank_started()) {
    ++starts;
    if (fact.rank_started().attempt() > 1) ++restarts;
  } else if (fact.has_rank_exited()) {
    ++exits[ExitReason(fact.rank_exited())];
  }
}

void AddWorkerSamples(const WorkerStatistics& statistics, const SpoolStatistics& spool,
                      MetricSet& metrics) {
  metrics.Add(kBuildInfo, {{"version", statistics.version}, {"component", "worker"}}, 1);
  AddProcesses(statistics, metrics);
  AddSlots(statistics, metrics);
  metrics.Add(kConnected, {}, statistics.connected ? 1 : 0);
  metrics.Add(kConnections, {}, static_cast<double>(statistics.connections));
  metrics.Add(kUnsentFacts, {}, static_cast<double>(statistics.unsent_facts));
  metrics.Add(kInFlight, {}, static_cast<double>(statistics.in_flight_bytes));
  metrics.Add(kShipped, {{"kind", "log"}}, static_cast<double>(statistics.shipped_log_bytes));
  metrics.Add(kShipped, {{"kind", "telemetry"}},
              static_cast<double>(statistics.shipped_telemetry_bytes));
  metrics.Add(kLostOutput, {}, static_cast<double>(statistics.lost_output_bytes));
  metrics.Add(kSpool, {}, static_cast<double>(spool.spool_bytes));
  metrics.Add(kDiskFree, {}, static_cast<double>(spool.disk_free_bytes));
}

// Adds one series for each GPU that a starting or running rank uses. Adds at most one series per
// GPU, because queries that join these series would otherwise fail.
void AddGpuAssignments(const WorkerStatistics& statistics, MetricSet& metrics) {
  std::set<int> assigned;
  for (const RankStatistics& rank : statistics.ranks) {
    const std::string_view state = rank.view.state;
    const v1::Slot* slot = SlotOf(statistics, rank);
    if (slot == nullptr || slot->kind() != v1::DEVICE_KIND_GPU) continue;
    if ((state != "starting" && state != "running") || !assigned.insert(slot->index()).second) {
      continue;
    }
    const std::string job_id = absl::StrCat(rank.view.key.attempt.job_id);
    metrics.Add(kAssignment,
                {{"uuid", slot->uuid()},
                 {"UUID", slot->uuid()},
                 {"gpu", absl::StrCat(slot->index())},
                 {"node", statistics.node},
                 {"job_id", job_id},
                 {"job_name", rank.job_name},
                 {"attempt", absl::StrCat(rank.view.key.attempt.number)},
                 {"rank", absl::StrCat(rank.view.key.rank)},
                 {"tp", absl::StrCat(rank.position.tp)},
                 {"pp", absl::StrCat(rank.position.pp)},
                 {"dp", absl::StrCat(rank.position.dp)},
                 {"cp", absl::StrCat(rank.position.cp)}},
                1);
  }
}

void AddGpuSamples(const std::string& node, const std::vector<GpuReading>& gpus,
                   MetricSet& metrics) {
  for (const GpuReading& gpu : gpus) {
    const std::string index = absl::StrCat(gpu.index);
    metrics.Add(kHealthy, {{"gpu", index}, {"uuid", gpu.uuid}, {"node", node}},
                gpu.error.empty() ? 1 : 0);
    const MetricLabels labels = {{"gpu", index},
                                 {"UUID", gpu.uuid},
                                 {"device", absl::StrCat("nvidia", index)},
                                 {"modelName", gpu.model},
                                 {"hostname", node}};
    for (const ReadingInfo& reading : kReadings) {
      const std::optional<double>& value = gpu.*reading.value;
      if (value.has_value()) metrics.Add(reading.info, labels, *value);
    }
  }
}

}  // namespace trainyard::worker
