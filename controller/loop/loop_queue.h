// Work for the loop thread, in two queues: requests of users and of the controller, and worker
// messages. Many messages do not delay requests, and many messages of one worker do not delay other
// workers.
#ifndef TRAINYARD_CONTROLLER_LOOP_LOOP_QUEUE_H_
#define TRAINYARD_CONTROLLER_LOOP_LOOP_QUEUE_H_

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

  // AddRequest and AddMessage return true if no pass of the loop is running or scheduled. The
  // caller must then start a pass.
  bool AddRequest(Work work);
  // Messages of one worker keep their order, and workers take turns. `worker` identifies the
  // worker's stream.
  bool AddMessage(const void* worker, Work work);
  bool AddPass();

  // NextRequest and NextMessage remove and return the next item of their queue, or return nullopt
  // if the queue is empty.
  std::optional<Work> NextRequest();
  std::optional<Work> NextMessage();

  // Ends a pass. Returns true if another pass must follow, because work is queued or `wants_more`
  // is true.
  bool EndPass(bool wants_more);

  // Returns the number of queued requests and messages.
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Work> requests_;
  FairQueue<const void*, Work> messages_;
  bool pass_due_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_LOOP_QUEUE_H_
