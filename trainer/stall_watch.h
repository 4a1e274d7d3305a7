// Tells the worker where a stalled rank waits.
#ifndef TRAINYARD_TRAINER_STALL_WATCH_H_
#define TRAINYARD_TRAINER_STALL_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "trainer/parallel/rank_groups.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Writes one `flight` record for each group of the rank as soon as none of them has begun or ended
// an operation for kLimit, and none again before one has: a record that is repeated would look like
// progress. Ranks that are only slow write them too. Look and Write are for any thread.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLimit{5};

  // Both must outlive this. Looks every second on a thread of its own.
  StallWatch(const RankGroups& groups, TelemetryWriter& telemetry);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  void Look(Clock::time_point now);

  // Writes the records, as when a peer is lost.
  void Write();

 private:
  void Run();

  const RankGroups& groups_;
  TelemetryWriter& telemetry_;
  std::mutex mutex_;  // Guards what follows.
  uint64_t moves_ = 0;
  std::optional<Clock::time_point> still_since_;  // Not set before the first look.
  bool is_told_ = false;
  bool ending_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STALL_WATCH_H_
