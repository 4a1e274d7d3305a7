// A fake NVML with fictitious GPUs. FAKE_NVML_FAULT selects a fault:
// - "init" and "count": that call fails
// - "lost": GPU 1 has fallen off the bus
// - "dies": the memory of GPU 1 cannot be read
// - "xid": GPU 2 had error 79
// - "old": devices support only the queries made at startup
// Any other value means a healthy machine with three GPUs.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kDriverNotLoaded = 9;
constexpr int kNotSupported = 3;
constexpr int kTimeout = 10;
constexpr int kGpuIsLost = 15;
constexpr int kUnknown = 999;

bool Fault(const char* name) {
  const char* fault = getenv("FAKE_NVML_FAULT");
  return fault != nullptr && strcmp(fault, name) == 0;
}

unsigned long NumberOf(void* device) { return reinterpret_cast<unsigned long>(device) - 1; }

int Answer() { return Fault("old") ? kNotSupported : 0; }

// A worker opens the library twice, on two threads: for its metrics and for the controller's
// history. As in the real library, the last shutdown closes the library.
std::atomic<int> initialised = 0;
std::atomic<int> event_sets = 0;

struct EventSet {
  bool xid_told = false;
};

}  // namespace

extern "C" {

struct FakeMemory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() {
  if (Fault("init")) return kDriverNotLoaded;
  ++initialised;
  return 0;
}

int nvmlShutdown() {
  if (--initialised == 0 && event_sets != 0) abort();  // An event set was not freed.
  return 0;
}

const char* nvmlErrorString(int result) {
  if (result == kDriverNotLoaded) return "Driver Not Loaded";
  return result == kGpuIsLost ? "GPU is lost" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return Fault("count") || initialised < 1 ? kUnknown : 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index == 1 && Fault("lost")) return kGpuIsLost;
  *device = reinterpret_cast<void*>(static_cast<unsigned long>(index + 1));
  return 0;
}

int nvmlDeviceGetName(void*, char* name, unsigned bytes) {
  snprintf(name, bytes, "NVIDIA H200");
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned bytes) {
  snprintf(uuid, bytes, "GPU-%lu", NumberOf(device));
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory) {
  if (NumberOf(device) == 1 && Fault("dies")) return kGpuIsLost;
  *memory = {150754820096ULL, 100ULL << 20, 50ULL << 20};
  return 0;
}

struct FakeUtilization {
  unsigned gpu, memory;
};

int nvmlDeviceGetUtilizationRates(void* device, FakeUtilization* utilization) {
  *utilization = {90 + static_cast<unsigned>(NumberOf(device)), 40};
  return Answer();
}

int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 61;
  return sensor == 0 ? Answer() : kUnknown;
}

struct FakeField {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

int nvmlDeviceGetFieldValues(void*, int count, FakeField* fields) {
  for (int i = 0; i < count; ++i) {
    fields[i].result = fields[i].field == 82 ? Answer() : kNotSupported;
    fields[i].value = 71;
  }
  return 0;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 650500;
  return Answer();
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 123456789;
  return Answer();
}

int nvmlDeviceGetClockInfo(void*, int domain, unsigned* mhz) {
  *mhz = domain == 1 ? 1980 : 3201;
  return Answer();
}

int nvmlDeviceGetPcieReplayCounter(void*, unsigned* replays) {
  *replays = 4;
  return Answer();
}

int nvmlDeviceGetTotalEccErrors(void*, int type, int counter, unsigned long long* errors) {
  *errors = static_cast<unsigned long long>(10 * type + counter + 1);
  return Answer();
}

int nvmlDeviceGetRemappedRows(void*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  *corrected = 7, *uncorrected = 2, *pending = 0, *failed = 1;
  return Answer();
}

// The last GPU is too hot. The other GPUs are at their power limit.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = NumberOf(device) == 2 ? 0x40 : 0x4;
  return Answer();
}

int nvmlEventSetCreate(void** set) {
  if (Fault("old")) return kNotSupported;
  ++event_sets;
  *set = new EventSet();
  return 0;
}

int nvmlEventSetFree(void* set) {
  delete static_cast<EventSet*>(set);
  --event_sets;
  return 0;
}

int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void*) {
  return types == 8 && NumberOf(device) < 3 ? 0 : kNotSupported;
}

struct FakeEvent {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

int nvmlEventSetWait_v2(void* set, FakeEvent* event, unsigned) {
  bool& xid_told = static_cast<EventSet*>(set)->xid_told;
  if (!Fault("xid") || xid_told) return kTimeout;
  xid_told = true;
  *event = {reinterpret_cast<void*>(3UL), 8, 79, 0, 0};
  return 0;
}
}
