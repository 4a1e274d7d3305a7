#include "trainer/parallel/operation_watch.h"

#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

std::string LossText(const std::string& group, std::chrono::seconds limit) {
  return "Lost a peer of group " + group + ": the GPU has ended none of its operations within " +
         std::to_string(limit.count()) + " s, and the training thread waits for the GPU.";
}

}  // namespace

OperationWatch::OperationWatch(torch::Device device, const std::string& group,
                               std::chrono::seconds limit)
    : device_(device),
      limit_(limit),
      deadline_(ExitCode::kPeerLost, LossText(group, limit)),
      thread_([this] { Run(); }) {}

OperationWatch::~OperationWatch() {
  Stop();
  thread_.join();
}

void OperationWatch::Add(cudaStream_t stream) {
  Event event = TakeSpare();
  event->Record(stream);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_.empty() && !stop_) deadline_.Set(limit_);
  running_.push_back(std::move(event));
}

void OperationWatch::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stop_ = true;
  deadline_.Clear();
}

OperationWatch::Event OperationWatch::TakeSpare() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (spare_.empty()) return std::make_unique<CudaEvent>();
  Event event = std::move(spare_.front());
  spare_.pop_front();
  return event;
}

void OperationWatch::Run() {
  try {
    // A new thread uses GPU 0 otherwise, which may be another rank's.
    CheckCuda("cudaSetDevice", cudaSetDevice(device_.index()));
    while (!stop_) {
      Advance();
      std::this_thread::sleep_for(kInterval);
    }
  } catch (const TrainerError&) {
    Stop();  // The device has failed: every call of the training thread reports it from now on.
  }
}

void OperationWatch::Advance() {
  bool any = false;
  while (PopReached()) any = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stop_) return;
  if (running_.empty()) {
    deadline_.Clear();
  } else if (any) {
    deadline_.Set(limit_);
  }
}

// The oldest stays in place while it is queried: Add of the training thread must not wait for a
// call of CUDA here, and elements of a deque stay where they are while others are added.
bool OperationWatch::PopReached() {
  const CudaEvent* oldest = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (running_.empty()) return false;
    oldest = running_.front().get();
  }
  if (!oldest->IsReached()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  spare_.push_back(std::move(running_.front()));
  running_.pop_front();
  return true;
}

}  // namespace trainyard::trainer
