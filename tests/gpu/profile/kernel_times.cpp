// Measures the times of all GPU kernels of a program, by kernel name. This is a library that the
// CUDA driver loads:
//   CUDA_INJECTION64_PATH=libkernel_times.so KERNEL_TIMES=FILE trainyard-trainer ...
// FILE is rewritten every second. The first line contains the number of optimizer steps and the
// time per step in milliseconds. Each further line contains a kernel's milliseconds and calls per
// step, longest time first. The first kWarmUpSteps steps do not count.
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr uint32_t kFlushPeriodMs = 1000;
constexpr int64_t kWarmUpSteps = 4;
// A kernel that runs once, at the end of every optimizer step.
constexpr char kLastKernelOfStep[] = "FinishNorm";

struct Total {
  int64_t calls = 0;
  double milliseconds = 0;
};

class KernelTimes {
 public:
  explicit KernelTimes(std::string path) : path_(std::move(path)) {}

  void Add(const std::string& name, uint64_t start, uint64_t end) {
    const std::lock_guard lock(mutex_);
    if (steps_ >= kWarmUpSteps) {
      Total& total = totals_[name];
      ++total.calls;
      total.milliseconds += static_cast<double>(end - start) / 1e6;
    }
    if (name.find(kLastKernelOfStep) == std::string::npos) return;
    ++steps_;
    if (steps_ == kWarmUpSteps) first_ = end;
    last_ = end;
  }

  void Write() {
    const std::lock_guard lock(mutex_);
    const int64_t steps = steps_ - kWarmUpSteps;
    if (steps <= 0) return;
    std::vector<std::pair<std::string, Total>> sorted(totals_.begin(), totals_.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.milliseconds > b.second.milliseconds;
    });
    const std::string fresh = path_ + ".tmp";
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(fresh.c_str(), "w"), std::fclose);
    if (file == nullptr) return;
    const double per_step = 1.0 / static_cast<double>(steps);
    std::fprintf(file.get(), "%lld steps, %.3f ms a step\n", static_cast<long long>(steps),
                 static_cast<double>(last_ - first_) / 1e6 * per_step);
    for (const auto& [name, total] : sorted) {
      std::fprintf(file.get(), "%9.3f ms %8.1f calls  %s\n", total.milliseconds * per_step,
                   static_cast<double>(total.calls) * per_step, name.c_str());
    }
    std::rename(fresh.c_str(), path_.c_str());
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::map<std::string, Total> totals_;
  int64_t steps_ = 0;
  uint64_t first_ = 0;  // Nanoseconds, at the end of the last uncounted step.
  uint64_t last_ = 0;
};

KernelTimes* times = nullptr;  // Exists until the process ends.

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return std::string(status == 0 ? text.get() : name).substr(0, 160);
}

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *size = kBufferBytes;
  *max_records = 0;  // As many as fit into the buffer.
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
}

void Count(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      return times->Add(Demangled(kernel.name), kernel.start, kernel.end);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      return times->Add("(copy)", copy.start, copy.end);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& set = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      return times->Add("(memset)", set.start, set.end);
    }
    default:
      return;
  }
}

void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) Count(*record);
  std::free(buffer);
  times->Write();
}

}  // namespace

// Called by the CUDA driver when it starts.
extern "C" int InitializeInjection() {
  const char* path = std::getenv("KERNEL_TIMES");
  if (path == nullptr) return 1;
  times = new KernelTimes(path);
  cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    cuptiActivityEnable(kind);
  }
  cuptiActivityFlushPeriod(kFlushPeriodMs);
  return 1;
}
