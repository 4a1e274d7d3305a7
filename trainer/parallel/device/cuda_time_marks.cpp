// Time marks of GPU work, measured with CUDA events.
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "trainer/parallel/device/cuda_event.h"
#include "trainer/parallel/device/time_marks.h"

namespace trainyard::trainer {
namespace {

class CudaTimeMarks final : public TimeMarks {
 public:
  // Ignores errors, because a destructor cannot report them. Such errors would come from earlier
  // work on the device.
  ~CudaTimeMarks() override {
    for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
  }

  void Add() override {
    if (used_ == events_.size()) {
      events_.push_back(nullptr);
      CheckCuda("cudaEventCreate", cudaEventCreate(&events_.back()));
    }
    CheckCuda("cudaEventRecord",
              cudaEventRecord(events_[used_++], c10::cuda::getCurrentCUDAStream().stream()));
  }

  std::vector<double> TakeGaps() override {
    std::vector<double> gaps;
    for (size_t i = 1; i < used_; ++i) {
      float milliseconds = 0;
      CheckCuda("cudaEventElapsedTime",
                cudaEventElapsedTime(&milliseconds, events_[i - 1], events_[i]));
      gaps.push_back(milliseconds / 1e3);
    }
    used_ = 0;
    return gaps;
  }

 private:
  std::vector<cudaEvent_t> events_;  // Reused by later marks.
  size_t used_ = 0;
};

}  // namespace

std::unique_ptr<TimeMarks> MakeTimeMarks(torch::Device device) {
  if (!device.is_cuda()) return MakeHostTimeMarks();
  return std::make_unique<CudaTimeMarks>();
}

}  // namespace trainyard::trainer
