// Calls hooks. Each hook has its own thread, so that a hanging hook delays neither other hooks nor
// the loop thread.
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
#include "controller/hooks/hook_positions.h"
#include "controller/hooks/hook_rules.h"
#include "controller/store/events/event_log.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

struct HookOptions {
  std::vector<HookRule> rules;
  // Stores the hooks' positions. If null, positions are not stored.
  std::unique_ptr<HookPositions> positions;
  // An undelivered event is dropped when it is older than this duration and the hook has been
  // failing for at least this long. The hook then continues with the next event.
  std::chrono::milliseconds give_up{24 * 3'600'000};
  // A factor for the delays between tries. Tests set a small factor.
  double wait_factor = 1;
};

class HookSender {
 public:
  // `job_name` returns the name of a job for display, or an empty string. The function may block
  // for a short time. All arguments must outlive this object.
  HookSender(EventLog& events, std::string cluster_id, const Clock& clock, HookOptions options,
             std::function<std::string(int64_t job_id)> job_name);
  // Stops.
  ~HookSender();

  // Starts the threads. Each hook continues after its last accepted or dropped event. A new hook
  // starts with events that occur from now on.
  absl::Status Start();
  // Stores the positions. A slow database delays Stop by a few seconds, regardless of the number of
  // hooks: Stop waits for one running access to the positions, and ends after the first failed
  // write.
  void Stop();

  // Call when there are new events. May be called on any thread.
  void Wake();

  // Returns the status of each hook, except `behind`, which the caller sets. May be called on any
  // thread.
  std::vector<v1::HookStatus> Report() const;

 private:
  using Steady = std::chrono::steady_clock;

  struct Hook {
    explicit Hook(HookRule of) : rule(std::move(of)) {}

    const HookRule rule;
    CallCanceller canceller;
    HookProcess process;               // Hook thread only.
    uint64_t position = 0;             // Hook thread only.
    uint64_t kept_position = 0;        // The newest position that was passed to Write.
    bool write_failed = false;         // True if that Write failed.
    int failures = 0;                  // The number of consecutive failures.
    Steady::time_point failing_since;  // Time of the first of these failures.
    v1::HookStatus status;             // Guarded by mutex_.
    std::thread thread;
  };

  absl::StatusOr<uint64_t> NewestEvent() const;
  void Run(Hook& hook);
  // Reads the stored position, and retries until this works. Returns false if Stop was called.
  bool FindPosition(Hook& hook);
  // Stores the position, unless Stop was called. Delivery continues after a failure.
  void KeepPosition(Hook& hook);
  absl::Status WritePosition(Hook& hook) const;
  // Stores the positions that are not stored yet. Call after all threads have ended.
  void KeepLastPositions();
  // Delivers or drops the events after the hook's position. Returns false if there were no such
  // events, if reading failed, or if Stop was called.
  bool Settle(Hook& hook);
  // Calls the hook until it accepts the event, the event is dropped, or Stop is called.
  void Deliver(const std::string& kind, const v1::EventEntry& entry, Hook& hook);
  // Counts the result of a call. Returns true if the event is done, that is, if the hook accepted
  // it or it is dropped.
  bool CountCall(const absl::Status& result, Timestamp event_ms, Hook& hook);
  void NoteResult(const absl::Status& result, Hook& hook);
  void ShowHealth(const absl::Status& result, Hook& hook);
  // Waits before the next try. Returns false if Stop was called.
  bool Pause(std::chrono::milliseconds time);
  bool IsStopping() const;

  EventLog& events_;
  const std::string cluster_id_;
  const Clock& clock_;
  const HookOptions options_;
  const std::function<std::string(int64_t)> job_name_;
  // Locked during each access to the positions, so that Stop waits for one access only. Locked
  // before mutex_.
  std::mutex positions_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  uint64_t wakes_ = 0;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_SENDER_H_
