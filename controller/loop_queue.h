// Work for the loop thread, in two queues: requests of users and of the controller, and worker
// messages. A flood of messages delays no request, and a flood from one worker delays no other
// worker.
#ifndef TRAINYARD_CONTROLLER_LOOP_QUEUE_H_
#define TRAINYARD_CONTROLLER_LOOP_QUEUE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "controller/kernel/fair_queue.h"

namespace trainyard::controller {

// Thread-safe.
class LoopQueue {
 public:
  using Work = std::function<void()>;

  // Each Add method returns true if no pass of the loop is running or scheduled. The caller must
  // then start one.
  bool AddRequest(Work work);
  // Messages of one worker keep their order; workers take turns. `worker` identifies the stream.
  bool AddMessage(const void* worker, Work work);
  bool AddPass();

  // Each removes and returns the oldest request or the next message; nullopt if there is none.
  std::optional<Work> NextRequest();
  std::optional<Work> NextMessage();

  // Ends a pass. Returns true if another pass must follow, because work is queued or `wants_more`.
  bool EndPass(bool wants_more);

  // Number of queued requests and messages.
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Work> requests_;
  FairQueue<const void*, Work> messages_;
  bool pass_due_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_QUEUE_H_
