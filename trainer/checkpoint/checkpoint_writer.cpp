#include "trainer/checkpoint/checkpoint_writer.h"

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/part_lock.h"
#include "trainer/checkpoint/peer_parts.h"
#include "trainer/checkpoint/publication.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint/save_steps.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

class CheckpointWriter::Impl {
 public:
  explicit Impl(CheckpointWriterOptions options) : steps_(std::move(options)) {
    MakeDirectories(options_.directory);
    if (options_.rank != 0) return;
    RaiseFence(options_.directory, options_.writer);
    RemoveAbandoned(options_.directory, options_.writer);
  }

  ~Impl() {
    steps_.End();
    if (thread_.joinable()) thread_.join();
    if (options_.rank != 0 && saves_ > 0 && !steps_.is_dropped()) {
      AwaitPublication(newest_temporary_, options_);
    }
  }

  double Save(int64_t step, const nlohmann::json& trainer_state,
              const std::vector<TensorChunk>& chunks, SaveKind kind, double waited_seconds) {
    const auto start = std::chrono::steady_clock::now();
    Finish();
    host_.Begin(chunks, kind == SaveKind::kFinal ? CopyPace::kAtOnce : CopyPace::kBesideTraining);
    ++saves_;
    SaveJob job;
    job.step = step;
    job.kind = kind;
    job.trainer_state = trainer_state;
    job.temporary = options_.directory + "/" + TemporaryName(step, options_.writer, saves_);
    newest_temporary_ = job.temporary;
    job.is_first = saves_ == 1;
    job.start = start;
    job.waited_seconds = waited_seconds;
    const std::chrono::duration<double> begun = std::chrono::steady_clock::now() - start;
    job.blocking_seconds = waited_seconds + begun.count();
    in_flight_ = true;
    thread_ = std::thread([this, job] {
      Run(job);
      const std::lock_guard<std::mutex> lock(mutex_);
      in_flight_ = false;
      idle_.notify_all();
    });
    return job.blocking_seconds;
  }

  void Reserve(const std::vector<TensorChunk>& chunks) { host_.Reserve(chunks); }

  void BlockChanges() { host_.BlockChanges(); }

  bool CanBlockChanges() const { return host_.CanBlockChanges(); }

  bool WaitUntilIdle(std::chrono::milliseconds read_timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return idle_.wait_for(lock, read_timeout, [this] { return !in_flight_; });
  }

  void Finish() {
    if (thread_.joinable()) thread_.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  bool HasLostSave() const { return lost_save_; }

  std::string AwaitedRanks() const { return peers_.awaited(); }

  void Drop() { steps_.Drop(); }

 private:
  // Performs the save on the background thread. Other threads may read error_ only after joining
  // this thread.
  void Run(const SaveJob& job) {
    lost_save_ = false;
    peers_.SetAwaited("");
    try {
      steps_.Retry(job, [&] {
        if (options_.claim) {
          CheckStillClaimed(options_.directory, options_.writer, *options_.claim);
        }
        MakeDirectories(job.temporary);
      });
      const PartLock lock(PathOfPart(job.temporary, options_.rank));
      host_.Wait();
      steps_.Reach(SavePhase::kCopied);
      if (job.is_first) ReportUnlocked(job);
      WriteOwnPart(job);
      if (options_.rank == 0) Publish(job, peers_.Gather(job), steps_);
    } catch (const TrainerError& error) {
      DropOutput(job, error.what());
      const bool continues =
          error.code() == ExitCode::kCannotWrite && job.kind == SaveKind::kPeriodic;
      lost_save_ = continues;
      if (!continues) error_ = std::current_exception();
      if (continues) steps_.ReportFailure(job, error);
    } catch (const std::exception& error) {
      DropOutput(job, error.what());
      error_ = std::make_exception_ptr(
          TrainerError(ExitCode::kInternal,
                       "checkpoint of step " + std::to_string(job.step) + ": " + error.what()));
    }
  }

  void WriteOwnPart(const SaveJob& job) {
    Entries entries;
    steps_.Retry(job, [&] { entries = WriteChunks(job); });
    steps_.Reach(SavePhase::kChunksWritten);
    const std::string text = EntriesToText(entries);
    steps_.Retry(job, [&] {
      WriteFileAtomically(job.temporary + "/" + RankEntriesName(options_.rank), text);
    });
    steps_.Reach(SavePhase::kEntriesWritten);
  }

  // Writes this rank's chunks. If that fails, truncates the incomplete file to free disk space. The
  // empty file remains, because its lock (PartLock) shows the other ranks that this rank is still
  // working.
  Entries WriteChunks(const SaveJob& job) const {
    try {
      return WriteRankFile(job.temporary, options_.rank, host_.chunks(),
                           [this] { steps_.CheckNotDropped(); });
    } catch (const TrainerError&) {
      std::error_code ignored;
      std::filesystem::resize_file(PathOfPart(job.temporary, options_.rank), 0, ignored);
      throw;
    }
  }

  // Frees the space of this rank's file and reports the failure to rank 0. Must not throw, because
  // that would hide the error that is being handled.
  void DropOutput(const SaveJob& job, const std::string& why) const {
    if (options_.rank == 0) {
      RemoveTree(job.temporary);
      return;
    }
    RemoveFile(job.temporary, RankDataName(options_.rank));
    try {
      WriteFileAtomically(job.temporary + "/" + RankFailedName(options_.rank), why);
    } catch (const TrainerError&) {
      // Ignored: rank 0 detects the failure when its time limit expires.
    }
  }

  void ReportUnlocked(const SaveJob& job) const {
    CheckpointEvent event = steps_.EventOf(job, CheckpointEvent::Kind::kUnlocked);
    event.message = host_.UnlockedText();
    if (!event.message.empty()) steps_.Notify(event);
  }

  SaveSteps steps_;
  PeerParts peers_{steps_};
  const CheckpointWriterOptions& options_ = steps_.options();
  HostCopy host_;      // Written by Save. Read by the background thread, which starts later.
  int64_t saves_ = 0;  // Equal on all ranks, because every rank calls Save at the same steps.
  std::string newest_temporary_;  // Temporary directory of the latest save.
  std::exception_ptr error_;
  bool lost_save_ = false;  // True if the latest save was lost. Read only after joining thread_.

  std::mutex mutex_;
  std::condition_variable idle_;
  bool in_flight_ = false;  // Guarded by mutex_ while thread_ is running.

  std::thread thread_;
};

CheckpointWriter::CheckpointWriter(CheckpointWriterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

CheckpointWriter::~CheckpointWriter() = default;

double CheckpointWriter::Save(int64_t step, const nlohmann::json& trainer_state,
                              const std::vector<TensorChunk>& chunks, SaveKind kind,
                              double waited_seconds) {
  return impl_->Save(step, trainer_state, chunks, kind, waited_seconds);
}

void CheckpointWriter::Reserve(const std::vector<TensorChunk>& chunks) { impl_->Reserve(chunks); }

void CheckpointWriter::BlockChanges() { impl_->BlockChanges(); }

bool CheckpointWriter::CanBlockChanges() const { return impl_->CanBlockChanges(); }

bool CheckpointWriter::WaitUntilIdle(std::chrono::milliseconds read_timeout) {
  return impl_->WaitUntilIdle(read_timeout);
}

void CheckpointWriter::Finish() { impl_->Finish(); }

bool CheckpointWriter::HasLostSave() const { return impl_->HasLostSave(); }

std::string CheckpointWriter::AwaitedRanks() const { return impl_->AwaitedRanks(); }

void CheckpointWriter::Drop() { impl_->Drop(); }

}  // namespace trainyard::trainer
