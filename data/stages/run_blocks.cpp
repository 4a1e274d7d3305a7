#include "data/stages/run_blocks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr auto kAdvancePeriod = std::chrono::milliseconds(100);
// Time after which a waiting thread checks whether the run was cancelled.
constexpr auto kWaitPeriod = std::chrono::milliseconds(100);

class Workers {
 public:
  Workers(BlockSource* source, const BlockWork& work, const std::atomic<bool>& cancelled)
      : source_(*source), work_(work), cancelled_(cancelled) {}

  absl::Status Run(int threads, const std::function<void(int64_t bytes)>& advance) {
    std::vector<std::thread> workers;
    try {
      while (workers.size() < static_cast<size_t>(threads)) {
        const std::lock_guard<std::mutex> lock(mutex_);
        workers.emplace_back([this] { Work(); });
        ++running_;
      }
    } catch (const std::system_error&) {
      // The system cannot start further threads. The threads started so far do all the work.
    }
    if (workers.empty()) return absl::ResourceExhaustedError("cannot start a thread");
    Observe(advance);
    for (std::thread& worker : workers) worker.join();
    return failure_;
  }

 private:
  // Reports progress until all threads have ended.
  void Observe(const std::function<void(int64_t bytes)>& advance) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (running_ > 0) {
      ended_.wait_for(lock, kAdvancePeriod);
      lock.unlock();
      advance(bytes_read_.exchange(0));
      lock.lock();
    }
  }

  void Work() {
    const absl::Status status = TakeAndProcess();
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_.Update(status);
    --running_;
    ended_.notify_all();
  }

  absl::Status TakeAndProcess() {
    for (;;) {
      TRAINYARD_ASSIGN_OR_RETURN(const std::optional<BlockLease> lease, source_.Take());
      if (!lease) return absl::OkStatus();
      const absl::Status status = Process(*lease);
      if (!status.ok()) source_.Fail(*lease, status);
    }
  }

  absl::Status Process(const BlockLease& lease) {
    const auto start = std::chrono::steady_clock::now();
    const Advance advance = [&](int64_t bytes) -> absl::Status {
      bytes_read_ += bytes;
      if (cancelled_) return absl::CancelledError("interrupted; repeat the command to continue");
      // Earlier blocks continue, so that the returned error is that of the first failed block.
      if (source_.Continues(lease)) return absl::OkStatus();
      return absl::AbortedError("an earlier block failed, or the lease is lost");
    };
    TRAINYARD_RETURN_IF_ERROR(advance(0));
    TRAINYARD_ASSIGN_OR_RETURN(BlockRecord record, work_(lease, advance));
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return source_.Commit(lease, std::move(record));
  }

  BlockSource& source_;
  const BlockWork& work_;
  const std::atomic<bool>& cancelled_;
  std::atomic<int64_t> bytes_read_ = 0;  // since `advance` was last called

  std::mutex mutex_;  // guards the members below
  std::condition_variable ended_;
  int running_ = 0;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::optional<BlockLease>> LocalBlocks::Take() {
  BlockQueue::Offer offer = {BlockQueue::State::kWait, {}};
  while (offer.state == BlockQueue::State::kWait && !cancelled_) {
    offer = queue_.TakeWithin(BlockQueue::kLocalHolder, kWaitPeriod);
  }
  if (offer.state != BlockQueue::State::kLeased) return std::nullopt;
  return offer.lease;
}

int ThreadsFor(int threads, int64_t memory_bytes, size_t blocks) {
  const int64_t most = std::max<int64_t>(1, memory_bytes / kThreadBytes);
  const int64_t useful = std::max<int64_t>(1, static_cast<int64_t>(blocks));
  return static_cast<int>(std::min<int64_t>({threads, most, useful}));
}

absl::Status RunBlocks(BlockSource* source, const BlockWork& work, int threads,
                       const std::function<void(int64_t bytes)>& advance,
                       const std::atomic<bool>& cancelled) {
  return Workers(source, work, cancelled).Run(threads, advance);
}

}  // namespace trainyard::data
