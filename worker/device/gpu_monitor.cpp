#include "worker/device/gpu_monitor.h"

#include <utility>

#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "worker/device/nvml_library.h"

namespace trainyard::worker {
namespace {

constexpr double kMib = 1 << 20;
constexpr int kTemperatureGpu = 0;        // NVML_TEMPERATURE_GPU
constexpr int kClockSm = 1;               // NVML_CLOCK_SM
constexpr int kClockMemory = 2;           // NVML_CLOCK_MEM
constexpr int kEccCorrected = 0;          // NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr int kEccUncorrected = 1;        // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kEccVolatile = 0;           // NVML_VOLATILE_ECC
constexpr int kEccAggregate = 1;          // NVML_AGGREGATE_ECC
constexpr unsigned kMemoryTemp = 82;      // NVML_FI_DEV_MEMORY_TEMP
constexpr unsigned long long kXid = 0x8;  // nvmlEventTypeXidCriticalError
// nvmlClocksThrottleReasonHwSlowdown, SwThermalSlowdown, HwThermalSlowdown, HwPowerBrakeSlowdown.
constexpr unsigned long long kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;
// The number of events per read is limited, because a driver that reports events endlessly must not
// block a scrape.
constexpr int kMaxEventsARead = 100;

struct Utilization {  // nvmlUtilization_t
  unsigned gpu;
  unsigned memory;
};

union FieldNumber {  // nvmlValue_t
  double as_double;
  unsigned as_unsigned;
  unsigned long long as_unsigned_long_long;
  long long as_long_long;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_usec;
  int value_type;
  NvmlResult result;
  FieldNumber value;
};

struct EventData {  // nvmlEventData_t
  NvmlDevice device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};

// Sets `value` to the result of `function` times `scale`. Leaves `value` unset if the driver lacks
// the function or the device does not report the value.
template <typename Number, typename Function, typename... Which>
void Get(std::optional<double>& value, double scale, Function function, NvmlDevice device,
         Which... which) {
  Number number = 0;
  if (function == nullptr || function(device, which..., &number) != kNvmlSuccess) return;
  value = static_cast<double>(number) * scale;
}

}  // namespace

class GpuMonitor::Session {
 public:
  ~Session() {
    if (events_ != nullptr) event_set_free_(events_);
  }

  absl::Status Open(const std::string& library) {
    TRAINYARD_RETURN_IF_ERROR(nvml_.Load(library));
    FindFunctions();
    TRAINYARD_ASSIGN_OR_RETURN(const unsigned count, nvml_.Count());
    for (unsigned index = 0; index < count; ++index) {
      const absl::StatusOr<Gpu> gpu = nvml_.Describe(index);
      const absl::StatusOr<NvmlDevice> device = nvml_.Device(index);
      if (!gpu.ok() || !device.ok()) continue;
      gpus_.push_back({*device, static_cast<int>(index), ReplaceInvalidUtf8(gpu->uuid),
                       ReplaceInvalidUtf8(gpu->model)});
    }
    ListenForXids();
    return absl::OkStatus();
  }

  std::vector<GpuReading> Read() {
    TakeXids();
    std::vector<GpuReading> readings;
    for (const Known& gpu : gpus_) {
      GpuReading& reading = readings.emplace_back();
      reading.index = gpu.index;
      reading.uuid = gpu.uuid;
      reading.model = gpu.model;
      reading.last_xid = gpu.last_xid;
      ReadMemory(gpu.device, reading);
      // Read nothing more from an unresponsive GPU, for example after it has fallen off the
      // bus.
      if (!reading.error.empty()) continue;
      ReadLoad(gpu.device, reading);
      ReadErrors(gpu.device, reading);
    }
    return readings;
  }

 private:
  struct Known {
    NvmlDevice device = nullptr;
    int index = 0;
    std::string uuid;
    std::string model;
    // Absent if the driver does not report XID errors.
    std::optional<double> last_xid;
  };

  void FindFunctions() {
    nvml_.Find("nvmlDeviceGetUtilizationRates", utilization_);
    nvml_.Find("nvmlDeviceGetTemperature", temperature_);
    nvml_.Find("nvmlDeviceGetFieldValues", field_values_);
    nvml_.Find("nvmlDeviceGetPowerUsage", power_);
    nvml_.Find("nvmlDeviceGetTotalEnergyConsumption", energy_);
    nvml_.Find("nvmlDeviceGetClockInfo", clock_);
    nvml_.Find("nvmlDeviceGetPcieReplayCounter", pcie_replays_);
    nvml_.Find("nvmlDeviceGetTotalEccErrors", ecc_errors_);
    nvml_.Find("nvmlDeviceGetRemappedRows", remapped_rows_);
    nvml_.Find("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons_);
    nvml_.Find("nvmlEventSetCreate", event_set_create_);
    nvml_.Find("nvmlEventSetFree", event_set_free_);
    nvml_.Find("nvmlEventSetWait_v2", event_set_wait_);
    nvml_.Find("nvmlDeviceRegisterEvents", register_events_);
  }

  void ListenForXids() {
    const bool complete = event_set_create_ != nullptr && event_set_free_ != nullptr &&
                          event_set_wait_ != nullptr && register_events_ != nullptr;
    if (!complete || event_set_create_(&events_) != kNvmlSuccess) {
      events_ = nullptr;
      return;
    }
    for (Known& gpu : gpus_) {
      if (register_events_(gpu.device, kXid, events_) == kNvmlSuccess) gpu.last_xid = 0;
    }
  }

  void TakeXids() {
    if (events_ == nullptr) return;
    EventData event = {};
    for (int i = 0; i < kMaxEventsARead; ++i) {
      if (event_set_wait_(events_, &event, 0) != kNvmlSuccess) return;
      for (Known& gpu : gpus_) {
        if (gpu.device == event.device && event.type == kXid) {
          gpu.last_xid = static_cast<double>(event.data);
        }
      }
    }
  }

  void ReadMemory(NvmlDevice device, GpuReading& reading) const {
    NvmlMemory memory = {};
    const absl::Status status = nvml_.Check(nvml_.ReadMemory(device, memory), "memory");
    if (!status.ok()) {
      reading.error = std::string(status.message());
      return;
    }
    reading.memory_used_mib = static_cast<double>(memory.used) / kMib;
    reading.memory_free_mib = static_cast<double>(memory.free) / kMib;
  }

  void ReadLoad(NvmlDevice device, GpuReading& reading) const {
    Utilization utilization = {};
    if (utilization_ != nullptr && utilization_(device, &utilization) == kNvmlSuccess) {
      reading.utilization_percent = utilization.gpu;
      reading.memory_utilization_percent = utilization.memory;
    }
    Get<unsigned>(reading.temperature_celsius, 1, temperature_, device, kTemperatureGpu);
    Get<unsigned>(reading.power_watts, 1e-3, power_, device);
    Get<unsigned long long>(reading.energy_millijoules, 1, energy_, device);
    Get<unsigned>(reading.sm_clock_mhz, 1, clock_, device, kClockSm);
    Get<unsigned>(reading.memory_clock_mhz, 1, clock_, device, kClockMemory);
    unsigned long long reasons = 0;
    if (throttle_reasons_ != nullptr && throttle_reasons_(device, &reasons) == kNvmlSuccess) {
      reading.throttled = (reasons & kSlowdowns) != 0;
    }
    FieldValue field = {};
    field.field = kMemoryTemp;
    if (field_values_ != nullptr && field_values_(device, 1, &field) == kNvmlSuccess &&
        field.result == kNvmlSuccess) {
      reading.memory_temperature_celsius = field.value.as_unsigned;
    }
  }

  void ReadErrors(NvmlDevice device, GpuReading& reading) const {
    Get<unsigned>(reading.pcie_replays, 1, pcie_replays_, device);
    Get<unsigned long long>(reading.ecc_corrected_volatile, 1, ecc_errors_, device, kEccCorrected,
                            kEccVolatile);
    Get<unsigned long long>(reading.ecc_uncorrected_volatile, 1, ecc_errors_, device,
                            kEccUncorrected, kEccVolatile);
    Get<unsigned long long>(reading.ecc_corrected_aggregate, 1, ecc_errors_, device, kEccCorrected,
                            kEccAggregate);
    Get<unsigned long long>(reading.ecc_uncorrected_aggregate, 1, ecc_errors_, device,
                            kEccUncorrected, kEccAggregate);
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (remapped_rows_ != nullptr &&
        remapped_rows_(device, &corrected, &uncorrected, &pending, &failed) == kNvmlSuccess) {
      reading.remapped_rows_uncorrected = uncorrected;
      reading.row_remap_failed = failed;
    }
  }

  NvmlLibrary nvml_;
  std::vector<Known> gpus_;
  void* events_ = nullptr;  // nvmlEventSet_t

  NvmlResult (*utilization_)(NvmlDevice, Utilization*) = nullptr;
  NvmlResult (*temperature_)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlResult (*field_values_)(NvmlDevice, int, FieldValue*) = nullptr;
  NvmlResult (*power_)(NvmlDevice, unsigned*) = nullptr;
  NvmlResult (*energy_)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlResult (*clock_)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlResult (*pcie_replays_)(NvmlDevice, unsigned*) = nullptr;
  NvmlResult (*ecc_errors_)(NvmlDevice, int, int, unsigned long long*) = nullptr;
  NvmlResult (*remapped_rows_)(NvmlDevice, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  NvmlResult (*throttle_reasons_)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlResult (*event_set_create_)(void**) = nullptr;
  NvmlResult (*event_set_free_)(void*) = nullptr;
  NvmlResult (*event_set_wait_)(void*, EventData*, unsigned) = nullptr;
  NvmlResult (*register_events_)(NvmlDevice, unsigned long long, void*) = nullptr;
};

absl::StatusOr<std::unique_ptr<GpuMonitor>> GpuMonitor::Open(const std::string& library) {
  auto session = std::make_unique<Session>();
  TRAINYARD_RETURN_IF_ERROR(session->Open(library));
  return std::unique_ptr<GpuMonitor>(new GpuMonitor(std::move(session)));
}

GpuMonitor::GpuMonitor(std::unique_ptr<Session> session) : session_(std::move(session)) {}

GpuMonitor::~GpuMonitor() = default;

std::vector<GpuReading> GpuMonitor::Read() { return session_->Read(); }

}  // namespace trainyard::worker
