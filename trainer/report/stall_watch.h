// Reports to the worker in which operation a stalled rank waits.
#ifndef TRAINYARD_TRAINER_REPORT_STALL_WATCH_H_
#define TRAINYARD_TRAINER_REPORT_STALL_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "trainer/parallel/rank_groups.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// If no group of the rank has begun or ended an operation for kLimit, writes one `flight` record
// per group. A slow rank may write such records, too. The records are written once per stall,
// because the worker would take repeated records for progress. Look and Write are thread-safe.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLimit{5};

  // Starts a thread that checks every second. `groups` and `telemetry` must outlive this object.
  StallWatch(const RankGroups& groups, TelemetryWriter& telemetry);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  void Look(Clock::time_point now);

  // Writes the records immediately. Called, for example, after the loss of a peer.
  void Write();

 private:
  void Run();

  const RankGroups& groups_;
  TelemetryWriter& telemetry_;
  std::mutex mutex_;  // Guards the members below.
  uint64_t moves_ = 0;
  std::optional<Clock::time_point> still_since_;  // Unset before the first check.
  bool is_reported_ = false;
  bool ending_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // The last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_STALL_WATCH_H_
