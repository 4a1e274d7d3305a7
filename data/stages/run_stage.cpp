#include "data/stages/run_stage.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "data/stages/record.h"
#include "data/stages/run_directory.h"
#include "data/stages/run_report.h"
#include "data/stages/stage_block.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the output of every stage changes for the same settings.
constexpr int kVersion = 1;
constexpr size_t kNoBlock = std::numeric_limits<size_t>::max();
constexpr auto kObserverPeriod = std::chrono::milliseconds(100);

absl::Status Interrupted() {
  return absl::CancelledError("interrupted; repeat the command to continue");
}

int ThreadsOf(const RunSettings& settings, size_t blocks) {
  const int64_t most = std::max<int64_t>(1, settings.memory_bytes / kThreadBytes);
  const int64_t useful = std::max<int64_t>(1, static_cast<int64_t>(blocks));
  return static_cast<int>(std::min<int64_t>({settings.threads, most, useful}));
}

// The threads of a run. Each takes the next block without a record, writes its parts and commits
// its record.
class Workers {
 public:
  Workers(const Stage& stage, const Plan& plan, const DecodeSettings& decode,
          RunDirectory* directory, RunTotals* totals, const std::atomic<bool>& cancelled)
      : stage_(stage),
        plan_(plan),
        decode_(decode),
        directory_(*directory),
        totals_(*totals),
        cancelled_(cancelled) {}

  absl::Status Run(int threads, const RunObserver& observer) {
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
    Observe(observer);
    for (std::thread& worker : workers) worker.join();
    return failure_;
  }

 private:
  // Reports progress until all threads have ended.
  void Observe(const RunObserver& observer) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (running_ > 0) {
      ended_.wait_for(lock, kObserverPeriod);
      lock.unlock();
      observer.advance(bytes_read_.exchange(0));
      lock.lock();
    }
  }

  void Work() {
    for (;;) {
      const size_t block = TakeBlock();
      if (block == kNoBlock) break;
      const absl::Status status = Process(block);
      if (!status.ok()) Fail(block, status);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  size_t TakeBlock() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (next_ < plan_.blocks().size() && totals_.Has(next_)) ++next_;
    const bool ends = next_ == plan_.blocks().size() || failed_block_ != kNoBlock;
    return ends ? kNoBlock : next_++;
  }

  absl::Status Process(size_t block) {
    const auto start = std::chrono::steady_clock::now();
    const Advance advance = [&](int64_t bytes) {
      bytes_read_ += bytes;
      if (cancelled_) return Interrupted();
      // Earlier blocks continue, so that the returned error is that of the first failed block.
      return failed_block_ < block ? absl::AbortedError("an earlier block failed")
                                   : absl::OkStatus();
    };
    TRAINYARD_RETURN_IF_ERROR(advance(0));
    TRAINYARD_ASSIGN_OR_RETURN(BlockRecord record,
                               RunStageOnBlock(stage_, plan_, block, decode_, directory_, advance));
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return Commit(std::move(record));
  }

  absl::Status Commit(BlockRecord record) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // A failed commit may have left half a record, which must remain the last one.
    TRAINYARD_RETURN_IF_ERROR(commit_failure_);
    commit_failure_ = directory_.Commit(record);
    TRAINYARD_RETURN_IF_ERROR(commit_failure_);
    return totals_.Add(std::move(record));
  }

  void Fail(size_t block, const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (block >= failed_block_) return;
    failed_block_ = block;
    failure_ = status;
  }

  const Stage& stage_;
  const Plan& plan_;
  const DecodeSettings& decode_;
  RunDirectory& directory_;
  RunTotals& totals_;  // guarded by mutex_
  const std::atomic<bool>& cancelled_;
  std::atomic<int64_t> bytes_read_ = 0;          // since the observer was last called
  std::atomic<size_t> failed_block_ = kNoBlock;  // the first one; written with mutex_

  std::mutex mutex_;  // guards the members below
  std::condition_variable ended_;
  int running_ = 0;
  size_t next_ = 0;
  absl::Status failure_;
  absl::Status commit_failure_;
};

int64_t BytesLeft(const Plan& plan, const RunTotals& totals) {
  int64_t bytes = 0;
  for (size_t block = 0; block < plan.blocks().size(); ++block) {
    if (!totals.Has(block)) bytes += plan.BytesOf(plan.blocks()[block]);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<Plan> PlanStage(const Stage& stage, const DecodeSettings& decode,
                               const std::vector<InputFile>& files, const PlanLimits& limits) {
  return Plan::Make(files,
                    {{"stage", stage.name},
                     {"stages_version", kVersion},
                     {"field", decode.field},
                     {"utf8", decode.repair_utf8 ? "replace" : "strict"},
                     {stage.name, stage.settings}},
                    limits);
}

absl::StatusOr<RunTotals> RunStage(const Stage& stage, const Plan& plan,
                                   const RunSettings& settings, const RunObserver& observer,
                                   const std::atomic<bool>& cancelled) {
  std::vector<BlockRecord> records;
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<RunDirectory> directory,
                             RunDirectory::Open(settings.out, plan, settings.replace, &records));
  RunTotals totals(plan, settings.bad_lines);
  for (BlockRecord& record : records) TRAINYARD_RETURN_IF_ERROR(totals.Add(std::move(record)));
  const size_t recorded = totals.blocks();
  observer.start(plan.blocks().size(), recorded, BytesLeft(plan, totals));
  const size_t left = plan.blocks().size() - recorded;
  if (left > 0) {
    Workers workers(stage, plan, settings.decode, directory.get(), &totals, cancelled);
    TRAINYARD_RETURN_IF_ERROR(workers.Run(ThreadsOf(settings, left), observer));
  }
  TRAINYARD_RETURN_IF_ERROR(totals.Finish());
  const BadLineLog& lines = totals.bad_lines();
  TRAINYARD_RETURN_IF_ERROR(directory->Complete(ReportJson(stage, plan, totals),
                                                lines.bad() > 0 ? lines.ToJsonLines() : ""));
  return totals;
}

}  // namespace trainyard::data
