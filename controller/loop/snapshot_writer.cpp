#include "controller/loop/snapshot_writer.h"

#include <chrono>
#include <utility>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

absl::Status CondenseLog(uint64_t sequence, EventLog& event_log) {
  TRAINYARD_ASSIGN_OR_RETURN(EventLog::Recovery recovery, event_log.ReadUpTo(sequence));
  return event_log.WriteSnapshot(ToSnapshot(StateOf(std::move(recovery)), sequence));
}

}  // namespace

ClusterState StateOf(EventLog::Recovery recovery) {
  ClusterState state;
  if (recovery.snapshot.has_value()) state = FromSnapshot(*std::move(recovery.snapshot));
  for (v1::Event& event : recovery.events) ApplyTakingSpec(event, state);
  return state;
}

SnapshotWriter::~SnapshotWriter() { Stop(); }

void SnapshotWriter::Start(std::function<void(double seconds)> observe) {
  observe_ = std::move(observe);
  thread_ = std::thread([this] { Run(); });
}

void SnapshotWriter::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool SnapshotWriter::Request(uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_.has_value()) return false;
    wanted_ = sequence;
  }
  changed_.notify_all();
  return true;
}

void SnapshotWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || wanted_.has_value(); });
    if (!wanted_.has_value()) return;
    const uint64_t sequence = *wanted_;
    lock.unlock();
    Write(sequence);
    lock.lock();
    wanted_.reset();
  }
}

void SnapshotWriter::Write(uint64_t sequence) {
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const absl::Status status = CondenseLog(sequence, event_log_);
  if (!status.ok()) {
    spdlog::error(
        "cannot write a snapshot: {}; the next start takes longer, because it must replay more "
        "events",
        status.ToString());
  }
  observe_(std::chrono::duration<double>(Steady::now() - begin).count());
}

}  // namespace trainyard::controller
