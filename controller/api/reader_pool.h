// The threads that run queries on the stores, so that neither the loop nor gRPC waits for a disk.
#ifndef TRAINYARD_CONTROLLER_API_READER_POOL_H_
#define TRAINYARD_CONTROLLER_API_READER_POOL_H_

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
  // `queue_limit` limits the work queued by TryPost.
  ReaderPool(int threads, int queue_limit);
  // Calls Join.
  ~ReaderPool();

  // Runs the queued work, then ends the threads. Work posted later never runs.
  void Join();

  // Queues `work`. Returns false if too much is already queued.
  bool TryPost(std::function<void()> work);

  // The error to return to a client if TryPost fails.
  static absl::Status Busy() {
    return absl::ResourceExhaustedError(
        "too many queries are waiting for the store; try again shortly");
  }

  // Queues `work` regardless of the limit. For callers with at most one queued piece each.
  void Post(std::function<void()> work);

 private:
  const int queue_limit_;
  std::atomic<int> queued_{0};
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_READER_POOL_H_
