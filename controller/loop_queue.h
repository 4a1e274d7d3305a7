// Work for the loop thread, in two queues: requests of users and of the controller, and messages of
// workers. A flood of messages delays no request, and the flood of one worker delays no other
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

  // Each returns true when no pass of the loop is running or due: the caller must start one.
  bool AddRequest(Work work);
  // Messages of one worker keep their order; workers take turns. `worker` identifies its stream.
  bool AddMessage(const void* worker, Work work);
  bool AddPass();

  // Takes the oldest request, or the next message; nullopt when there is none.
  std::optional<Work> NextRequest();
  std::optional<Work> NextMessage();

  // Ends a pass. Returns true when another one must follow, because work waits or `wants_more`.
  bool EndPass(bool wants_more);

  // Waiting requests and messages.
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
