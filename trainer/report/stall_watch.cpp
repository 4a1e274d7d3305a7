#include "trainer/report/stall_watch.h"

#include "proto/contract/rank_set.h"

namespace trainyard::trainer {
namespace {

int64_t Milliseconds(double seconds) { return static_cast<int64_t>(seconds * 1e3); }

FlightReport ReportOf(const Communicator& group) {
  const FlightEntry entry = group.flight().Current();
  const bool is_queued = entry.queued > 0;
  return {.group = group.name(),
          .ranks = RankSetText(group.ranks()),
          .sequence = static_cast<int64_t>(entry.sequence),
          .operation = is_queued ? NameOf(entry.kind) : "",
          .bytes = entry.bytes,
          .queued_ms = Milliseconds(entry.queued),
          .entered_ms = Milliseconds(entry.entered)};
}

uint64_t MovesOf(const RankGroups& groups) {
  uint64_t moves = 0;
  ForEachGroup(groups, [&](const Communicator& group) { moves += group.flight().moves(); });
  return moves;
}

}  // namespace

StallWatch::StallWatch(const RankGroups& groups, TelemetryWriter& telemetry)
    : groups_(groups), telemetry_(telemetry), thread_([this] { Run(); }) {}

StallWatch::~StallWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StallWatch::Run() {
  constexpr std::chrono::seconds kInterval{1};
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return ending_; })) {
    lock.unlock();
    Look(Clock::now());
    lock.lock();
  }
}

void StallWatch::Look(Clock::time_point now) {
  const uint64_t moves = MovesOf(groups_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool has_moved = !still_since_.has_value() || moves != moves_;
    moves_ = moves;
    if (has_moved) still_since_ = now;
    if (has_moved) is_reported_ = false;
    if (is_reported_ || now - *still_since_ < kLimit) return;
    is_reported_ = true;
  }
  Write();
}

void StallWatch::Write() {
  ForEachGroup(groups_,
               [&](const Communicator& group) { telemetry_.WriteFlight(ReportOf(group)); });
}

}  // namespace trainyard::trainer
