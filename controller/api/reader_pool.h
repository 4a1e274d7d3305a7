// The few threads that run queries on the stores, so that neither the loop nor gRPC waits for a
// disk.
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
  // `queue_limit` bounds what TryPost accepts.
  ReaderPool(int threads, int queue_limit);
  // Joins.
  ~ReaderPool();

  // Runs the queued work, then ends the threads. Work that is posted afterwards never runs.
  void Join();

  // Queues `work`; false when too much is queued already.
  bool TryPost(std::function<void()> work);

  // Error for the client of a caller when TryPost returns false.
  static absl::Status Busy() {
    return absl::ResourceExhaustedError("too many queries wait for the store; try again shortly");
  }

  // Queues `work` without regard to the limit; for callers that have at most one piece queued each.
  void Post(std::function<void()> work);

 private:
  const int queue_limit_;
  std::atomic<int> queued_{0};
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_READER_POOL_H_
