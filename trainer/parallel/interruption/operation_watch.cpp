#include "trainer/parallel/interruption/operation_watch.h"

namespace trainyard::trainer {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

std::string LossText(const std::string& group, std::chrono::milliseconds limit) {
  return "Lost a peer of group " + group +
         ": the GPU has been executing one operation of the group for more than " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count()) +
         " s, and the training thread waits for the GPU.";
}

}  // namespace

OperationWatch::OperationWatch(const OperationCounters& counters, FlightRecord& record,
                               const std::string& group, std::chrono::milliseconds exit_limit)
    : counters_(counters),
      record_(record),
      exit_limit_(exit_limit),
      deadline_(ExitCode::kPeerLost, LossText(group, exit_limit)),
      thread_([this] { Run(); }) {}

OperationWatch::~OperationWatch() {
  Stop();
  thread_.join();
}

std::chrono::milliseconds OperationWatch::RunningFor() const {
  const Clock::rep since = since_;
  if (since == kIdle) return std::chrono::milliseconds(0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch() -
                                                               Clock::duration(since));
}

void OperationWatch::Stop() { stop_ = true; }

void OperationWatch::Run() {
  while (!stop_) {
    Look();
    std::this_thread::sleep_for(kInterval);
  }
  deadline_.Clear();
}

void OperationWatch::Look() {
  // `entered` is read before `left`, so `left` is at least `entered` - 1. If `left` equals
  // `entered` - 1, the device is inside the operation. If `left` is larger, the device has left the
  // operation.
  const uint32_t entered = counters_.entered;
  const uint32_t left = counters_.left;
  record_.Enter(record_.Widen(entered));
  record_.Leave(record_.Widen(left));
  const bool is_inside = left == entered - 1;
  if (!is_inside) {
    if (since_ != kIdle) deadline_.Clear();
    since_ = kIdle;
  } else if (since_ == kIdle || entered != current_) {
    current_ = entered;
    since_ = Clock::now().time_since_epoch().count();
    deadline_.Set(exit_limit_);
  }
}

}  // namespace trainyard::trainer
