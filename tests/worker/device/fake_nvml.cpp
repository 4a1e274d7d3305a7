// NVML with made-up GPUs. FAKE_NVML_FAULT chooses what goes wrong: "init", "count" or "lost" (GPU 1
// has fallen off the bus); anything else is a healthy machine with three GPUs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;
constexpr int kUnknown = 999;

bool Fault(const char* name) {
  const char* fault = getenv("FAKE_NVML_FAULT");
  return fault != nullptr && strcmp(fault, name) == 0;
}

int initialised = 0;

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
  --initialised;
  return 0;
}

const char* nvmlErrorString(int result) {
  if (result == kDriverNotLoaded) return "Driver Not Loaded";
  return result == kGpuIsLost ? "GPU is lost" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return Fault("count") || initialised != 1 ? kUnknown : 0;
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
  snprintf(uuid, bytes, "GPU-%lu", reinterpret_cast<unsigned long>(device) - 1);
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
  *memory = {150754820096ULL, 1, 2};
  return 0;
}
}
