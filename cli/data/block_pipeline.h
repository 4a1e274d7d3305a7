// Processes blocks on all cores, with results in the order of the blocks and bounded memory.
#ifndef TRAINYARD_CLI_DATA_BLOCK_PIPELINE_H_
#define TRAINYARD_CLI_DATA_BLOCK_PIPELINE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::cli {

// Input and Result are movable. `next` and `take` run on the caller's thread, `work` on `threads`
// other threads. At most 4 * threads blocks are between `next` and `take`.
template <typename Input, typename Result>
class BlockPipeline {
 public:
  using Next = std::function<absl::StatusOr<bool>(Input*)>;  // false: no more
  using Work = std::function<absl::StatusOr<Result>(Input)>;
  using Take = std::function<absl::Status(Result)>;

  explicit BlockPipeline(int threads) : threads_(threads) {}

  // Runs until `next` has no more, or something fails; the first error in block order is returned.
  absl::Status Run(const Next& next, const Work& work, const Take& take) {
    std::vector<std::thread> workers;
    for (int i = 0; i < threads_; ++i) workers.emplace_back([&] { WorkUntilClosed(work); });
    const absl::Status status = Drive(next, take);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers) worker.join();
    return status;
  }

 private:
  struct Slot {
    std::optional<Input> input;                    // until a worker takes it
    std::optional<absl::StatusOr<Result>> result;  // once it is done
  };

  absl::Status Drive(const Next& next, const Take& take) {
    const size_t window = static_cast<size_t>(threads_) * 4;
    bool more = true;
    size_t in_flight = 0;
    while (more || in_flight > 0) {
      if (more && in_flight < window) {
        Input input;
        const absl::StatusOr<bool> got = next(&input);
        if (!got.ok()) return got.status();
        more = *got;
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
    return absl::OkStatus();
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
    --next_slot_;
    return result;
  }

  void WorkUntilClosed(const Work& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || next_slot_ < slots_.size(); });
      if (closed_) return;
      Slot& slot = slots_[next_slot_++];  // a deque keeps its place while others come and go
      Input input = *std::move(slot.input);
      slot.input.reset();
      lock.unlock();
      absl::StatusOr<Result> result = work(std::move(input));
      lock.lock();
      slot.result = std::move(result);
      changed_.notify_all();
    }
  }

  const int threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // in block order
  size_t next_slot_ = 0;    // the first that no worker has taken
  bool closed_ = false;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_BLOCK_PIPELINE_H_
