// Processes blocks on all cores in bounded memory. The results are returned in block order.
#ifndef TRAINYARD_DATA_INPUT_BLOCK_PIPELINE_H_
#define TRAINYARD_DATA_INPUT_BLOCK_PIPELINE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

// `next` and `take` are called on the caller's thread. `work` is called concurrently on `threads`
// (at least 1) other threads; its first argument is the index of the thread. At most 4 * threads
// blocks are between `next` and `take`. Input and Result must be movable, and Input
// default-constructible. Call Run at most once per object.
template <typename Input, typename Result>
class BlockPipeline {
 public:
  // Returns false at the end of the input.
  using Next = std::function<absl::StatusOr<bool>(Input*)>;
  using Work = std::function<absl::StatusOr<Result>(int thread, Input)>;
  using Take = std::function<absl::Status(Result)>;

  explicit BlockPipeline(int threads) : threads_(threads) {}

  // Runs until the end of the input or the first error, and returns that error. If `work` fails for
  // several blocks, the error of the earliest block is returned.
  absl::Status Run(const Next& next, const Work& work, const Take& take) {
    std::vector<std::thread> workers;
    try {
      while (workers.size() < static_cast<size_t>(threads_)) {
        const int thread = static_cast<int>(workers.size());
        workers.emplace_back([this, &work, thread] { WorkUntilClosed(thread, work); });
      }
    } catch (const std::system_error&) {
      // The system cannot start further threads. The threads started so far do all the work.
    }
    const absl::Status status =
        workers.empty() ? absl::ResourceExhaustedError("cannot start a thread") : Drive(next, take);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers) worker.join();
    return status;
  }

 private:
  // A block between `next` and `take`.
  struct Slot {
    std::optional<Input> input;                    // Empty after a worker thread has taken it.
    std::optional<absl::StatusOr<Result>> result;  // Set when `work` has returned.
  };

  // Runs on the caller's thread. Reads blocks until the window is full, then passes the first
  // result to `take`.
  absl::Status Drive(const Next& next, const Take& take) {
    const size_t window = static_cast<size_t>(threads_) * 4;
    bool more = true;
    size_t in_flight = 0;
    absl::Status failure;
    while (more || in_flight > 0) {
      if (more && in_flight < window) {
        Input input;
        const absl::StatusOr<bool> got = next(&input);
        // The blocks before the failed one come first, so that the returned error does not depend
        // on the number of threads.
        if (!got.ok()) failure = got.status();
        more = got.ok() && *got;
        if (!more) continue;
        Put(std::move(input));
        ++in_flight;
        continue;
      }
      absl::StatusOr<Result> result = WaitForFirst();
      --in_flight;
      if (!result.ok()) return result.status();
      const absl::Status taken = take(*std::move(result));
      if (!taken.ok()) return taken;
    }
    return failure;
  }

  void Put(Input input) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      slots_.emplace_back();
      slots_.back().input = std::move(input);
    }
    changed_.notify_all();
  }

  absl::StatusOr<Result> WaitForFirst() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return slots_.front().result.has_value(); });
    absl::StatusOr<Result> result = *std::move(slots_.front().result);
    slots_.pop_front();
    --next_slot_;  // The later slots have just moved forward by one.
    return result;
  }

  void WorkUntilClosed(int thread, const Work& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || next_slot_ < slots_.size(); });
      if (closed_) return;
      // The reference stays valid, because adding or removing elements at the ends of a deque moves
      // no other element.
      Slot& slot = slots_[next_slot_++];
      Input input = *std::move(slot.input);
      slot.input.reset();
      lock.unlock();
      absl::StatusOr<Result> result = work(thread, std::move(input));
      lock.lock();
      slot.result = std::move(result);
      changed_.notify_all();
    }
  }

  const int threads_;
  std::mutex mutex_;                 // Guards the members below.
  std::condition_variable changed_;  // A slot was added, a result is ready, or `closed_` was set.
  std::deque<Slot> slots_;           // In block order.
  size_t next_slot_ = 0;             // Index of the first slot that no worker thread has taken.
  bool closed_ = false;              // Tells the worker threads to end.
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_BLOCK_PIPELINE_H_
