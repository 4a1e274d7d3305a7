// The threads that call hooks: one for each, so that a hook that hangs delays no other, and none of
// them the loop.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_SENDER_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_SENDER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/hooks/hook_call.h"
#include "controller/hooks/hook_rules.h"
#include "controller/store/event_log.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

struct HookOptions {
  std::vector<HookRule> rules;
  // Directory of the positions; made when there are rules. Empty: positions are not kept.
  std::string directory;
  // A failed event older than this is dropped once the hook has been failing for as long. The next
  // event follows.
  std::chrono::milliseconds give_up{24 * 3'600'000};
  // Multiplies the waits between tries; tests make it small.
  double wait_factor = 1;
};

class HookSender {
 public:
  // `job_name` gives the name of a job for people, or nothing; it may block for a short time. All
  // arguments outlive this.
  HookSender(EventLog& events, std::string cluster_id, const Clock& clock, HookOptions options,
             std::function<std::string(int64_t job_id)> job_name);
  // Stops.
  ~HookSender();

  // Every hook goes on behind the last event that it has settled; a new hook begins with the events
  // that come from now on.
  absl::Status Start();
  void Stop();

  // There are new events. Any thread.
  void Wake();

  // Without `behind`. Any thread.
  std::vector<v1::HookStatus> Report() const;

 private:
  using Steady = std::chrono::steady_clock;

  struct Hook {
    explicit Hook(HookRule of) : rule(std::move(of)) {}

    const HookRule rule;
    CallCanceller canceller;
    HookProcess process;               // Of the thread.
    uint64_t position = 0;             // Of the thread.
    uint64_t kept_position = 0;        // In the file.
    int failures = 0;                  // In a row.
    Steady::time_point failing_since;  // Of the first of them.
    v1::HookStatus status;             // Guarded by mutex_.
    std::thread thread;
  };

  absl::Status ReadPosition(uint64_t newest, Hook& hook) const;
  absl::Status KeepPosition(Hook& hook) const;
  absl::StatusOr<uint64_t> NewestEvent() const;
  void Run(Hook& hook);
  // Settles the events behind the position; false when there were none, or reading failed.
  bool Settle(Hook& hook);
  // Calls the hook until it takes the event, the event is dropped, or Stop.
  void Deliver(const std::string& kind, const v1::EventEntry& entry, Hook& hook);
  // True when the event is settled: it was taken, or is dropped.
  bool CountCall(const absl::Status& result, Timestamp event_ms, Hook& hook);
  void NoteResult(const absl::Status& result, Hook& hook);
  bool Pause(std::chrono::milliseconds time);
  std::string PathOf(const Hook& hook) const;

  EventLog& events_;
  const std::string cluster_id_;
  const Clock& clock_;
  const HookOptions options_;
  const std::function<std::string(int64_t)> job_name_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  uint64_t wakes_ = 0;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_SENDER_H_
