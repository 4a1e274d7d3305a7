// Threads that run queries on the stores, so that neither the loop thread nor gRPC's threads wait
// for a disk.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_READER_POOL_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_READER_POOL_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/status/status.h"

namespace boost::asio {
class thread_pool;
}

namespace trainyard::controller {

// Thread-safe.
class ReaderPool {
 public:
  // `queue_limit` is the maximum amount of work that TryPost queues.
  ReaderPool(int threads, int queue_limit);
  // Calls Join.
  ~ReaderPool();

  // Finishes the queued work, then ends the threads. Work that is posted afterwards never runs.
  void Join();

  // Queues `work`. Returns false if the queue is full.
  bool TryPost(std::function<void()> work);

  // The error to return to a client if TryPost fails.
  static absl::Status Busy() {
    return absl::ResourceExhaustedError(
        "too many queries are waiting for the store; try again shortly");
  }

  // Queues `work` even if the limit is reached. Only for callers that have at most one piece of
  // work queued at a time.
  void Post(std::function<void()> work);

 private:
  const int queue_limit_;
  std::atomic<int> queued_{0};
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_READER_POOL_H_
