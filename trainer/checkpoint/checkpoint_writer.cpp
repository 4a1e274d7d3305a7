#include "trainer/checkpoint/checkpoint_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "proto/contract/rank_set.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/part_lock.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// File by which a rank reports that it cannot write, so that rank 0 stops waiting.
std::string RankFailedName(int rank) { return RankEntriesName(rank) + ".failed"; }

std::string PathOfPart(const std::string& temporary, int rank) {
  return temporary + "/" + RankDataName(rank);
}

// A rank's part of a save is reported as missing if no file of it exists after this time.
constexpr double kSilentPartSeconds = 1.5;

bool IsUnshared(const std::exception& error) {
  return dynamic_cast<const UnsharedDirectory*>(&error) != nullptr;
}

// Pauses between polls for files of other ranks: short at first, because most ranks finish
// together.
class Pause {
 public:
  void Sleep() {
    std::this_thread::sleep_for(length_);
    length_ = std::min(length_ * 2, std::chrono::milliseconds(200));
  }

 private:
  std::chrono::milliseconds length_{2};
};

// One save in progress.
struct SaveJob {
  int64_t step = 0;
  SaveKind kind = SaveKind::kPeriodic;
  nlohmann::json trainer_state;
  std::string temporary;  // Directory in which the checkpoint is built.
  bool is_first = false;
  Clock::time_point start;
  double waited_seconds = 0;  // By the caller, before start.
  double blocking_seconds = 0;
};

}  // namespace

class CheckpointWriter::Impl {
 public:
  explicit Impl(CheckpointWriterOptions options) : options_(std::move(options)) {
    MakeDirectories(options_.directory);
    if (options_.rank != 0) return;
    RaiseFence(options_.directory, options_.writer);
    RemoveAbandoned(options_.directory, options_.writer);
  }

  ~Impl() {
    is_ending_ = true;
    if (thread_.joinable()) thread_.join();
    if (options_.rank != 0 && saves_ > 0 && !is_dropped_) StayForPublication();
  }

  double Save(int64_t step, const nlohmann::json& trainer_state,
              const std::vector<TensorChunk>& chunks, SaveKind kind, double waited_seconds) {
    const Clock::time_point start = Clock::now();
    Finish();
    host_.Begin(chunks);
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
    job.blocking_seconds = waited_seconds + SecondsSince(start);
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

  bool WaitUntilIdle(std::chrono::milliseconds read_timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return idle_.wait_for(lock, read_timeout, [this] { return !in_flight_; });
  }

  void Finish() {
    if (thread_.joinable()) thread_.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  bool HasLostSave() const { return lost_save_; }

  std::string AwaitedRanks() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return awaited_;
  }

  void Drop() { is_dropped_ = true; }

 private:
  void CheckNotDropped() const {
    if (!is_dropped_) return;
    throw TrainerError(ExitCode::kCannotWrite,
                       "a rank was lost, and the gang continues without it");
  }

  void Reach(SavePhase phase) const {
    if (options_.on_phase) options_.on_phase(phase);
  }

  void Notify(const CheckpointEvent& event) const {
    if (options_.on_event) options_.on_event(event);
  }

  // Runs on the background thread. error_ is read only after that thread was joined.
  void Run(const SaveJob& job) {
    lost_save_ = false;
    SetAwaited("");
    try {
      Retry(job, [&] {
        if (options_.claim) {
          CheckStillClaimed(options_.directory, options_.writer, *options_.claim);
        }
        MakeDirectories(job.temporary);
      });
      const PartLock lock(PathOfPart(job.temporary, options_.rank));
      host_.Wait();
      Reach(SavePhase::kCopied);
      if (job.is_first) ReportUnlocked(job);
      WriteOwnPart(job);
      if (options_.rank == 0) Publish(job, GatherEntries(job));
    } catch (const TrainerError& error) {
      DropOutput(job, error.what());
      const bool continues =
          error.code() == ExitCode::kCannotWrite && job.kind == SaveKind::kPeriodic;
      lost_save_ = continues;
      if (!continues) error_ = std::current_exception();
      if (continues) ReportFailure(job, error);
    } catch (const std::exception& error) {
      DropOutput(job, error.what());
      error_ = std::make_exception_ptr(
          TrainerError(ExitCode::kInternal,
                       "checkpoint of step " + std::to_string(job.step) + ": " + error.what()));
    }
  }

  // Runs one step of a save. If a step of the final save cannot write, repeats it until it succeeds
  // or final_wait_seconds have passed: otherwise the work since the last checkpoint would be lost,
  // and the user may free disk space meanwhile. Each rank repeats its own steps, and the other
  // ranks wait for it.
  void Retry(const SaveJob& job, const std::function<void()>& step) {
    std::chrono::milliseconds pause(100);
    for (;;) {
      try {
        return step();
      } catch (const TrainerError& error) {
        const bool again = error.code() == ExitCode::kCannotWrite && job.kind == SaveKind::kFinal &&
                           !is_dropped_ && SecondsSince(job.start) < options_.final_wait_seconds;
        if (!again) throw;
        ReportBlocked(job, error);
      }
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::milliseconds>(pause * 2, std::chrono::seconds(5));
    }
  }

  void WriteOwnPart(const SaveJob& job) {
    Entries entries;
    Retry(job, [&] { entries = WriteChunks(job); });
    Reach(SavePhase::kChunksWritten);
    const std::string text = EntriesToText(entries);
    Retry(job,
          [&] { WriteFileAtomically(job.temporary + "/" + RankEntriesName(options_.rank), text); });
    Reach(SavePhase::kEntriesWritten);
  }

  // Truncates an incomplete file to free its space. The file itself remains, with its lock.
  Entries WriteChunks(const SaveJob& job) const {
    try {
      return WriteRankFile(job.temporary, options_.rank, host_.chunks(),
                           [this] { CheckNotDropped(); });
    } catch (const TrainerError&) {
      std::error_code ignored;
      std::filesystem::resize_file(PathOfPart(job.temporary, options_.rank), 0, ignored);
      throw;
    }
  }

  // Rank 0: waits for every rank's list and merges the lists.
  Entries GatherEntries(const SaveJob& job) {
    Entries all;
    const Clock::time_point start = Clock::now();
    have_all_begun_ = false;
    for (int rank = 0; rank < options_.world_size; ++rank) {
      const std::string path = job.temporary + "/" + RankEntriesName(rank);
      WaitForRank(job, rank, start);
      Merge(ReadEntries(rank, path), &all);
    }
    SetAwaited("");
    CheckCoverage(all);
    Reach(SavePhase::kAllRanksWritten);
    return all;
  }

  // A rank's unreadable list fails this save with kCannotWrite. kBadCheckpoint would blame the
  // checkpoint from which the attempt started.
  static Entries ReadEntries(int rank, const std::string& path) {
    try {
      return EntriesFromText(ReadFile(path, ExitCode::kCannotWrite), path);
    } catch (const TrainerError& error) {
      throw TrainerError(ExitCode::kCannotWrite, "the list of what rank " + std::to_string(rank) +
                                                     " has written is unusable: " + error.what());
    }
  }

  // Another rank may also be waiting for space.
  double PeerLimitSeconds(const SaveJob& job) const {
    return options_.peer_timeout_seconds +
           (job.kind == SaveKind::kFinal ? options_.final_wait_seconds : 0);
  }

  void WaitForRank(const SaveJob& job, int rank, Clock::time_point start) {
    const std::string entries = job.temporary + "/" + RankEntriesName(rank);
    const std::string failed = job.temporary + "/" + RankFailedName(rank);
    const std::string who = "rank " + std::to_string(rank);
    std::optional<PartWatch> watch;  // Set once the trainer is ending.
    Pause pause;
    while (FileBytes(entries) < 0) {
      CheckNotDropped();
      if (FileBytes(failed) >= 0) {
        throw TrainerError(ExitCode::kCannotWrite,
                           who + ": " + ReadFile(failed, ExitCode::kCannotWrite));
      }
      AwaitFirstSigns(job, start);
      if (SecondsSince(start) > PeerLimitSeconds(job)) {
        throw TrainerError(ExitCode::kCannotWrite,
                           who + " did not write its part of " + job.temporary + " in time");
      }
      if (is_ending_ && !watch) {
        watch.emplace(PathOfPart(job.temporary, rank), options_.absence_seconds);
      }
      if (watch && watch->IsGone()) {
        throw TrainerError(ExitCode::kCannotWrite,
                           "the trainer is ending, and " + who + " has disconnected");
      }
      pause.Sleep();
    }
  }

  // Every rank begins a save by creating a file. Reports the ranks that have not created one in
  // time.
  void AwaitFirstSigns(const SaveJob& job, Clock::time_point start) {
    const double seconds = SecondsSince(start);
    if (have_all_begun_ || seconds < kSilentPartSeconds) return;
    const std::string silent = RanksWithoutSign(job);
    have_all_begun_ = silent.empty();
    SetAwaited(silent);
    if (have_all_begun_ || seconds < options_.first_sign_seconds) return;
    const UnsharedDirectory error("ranks " + silent + " have created no file in " + job.temporary +
                                  " for " + std::to_string(static_cast<int>(seconds)) +
                                  " s: mount the same storage at " + options_.directory +
                                  " on every node");
    if (job.kind == SaveKind::kPeriodic) throw error;
    // The state is still in their memory, and their storage may return.
    ReportBlocked(job, error);
  }

  std::string RanksWithoutSign(const SaveJob& job) const {
    std::vector<int64_t> silent;
    for (int rank = 0; rank < options_.world_size; ++rank) {
      const bool is_seen = FileBytes(PathOfPart(job.temporary, rank)) >= 0 ||
                           FileBytes(job.temporary + "/" + RankEntriesName(rank)) >= 0 ||
                           FileBytes(job.temporary + "/" + RankFailedName(rank)) >= 0;
      if (!is_seen) silent.push_back(rank);
    }
    return silent.empty() ? "" : RankSetText(silent);
  }

  void SetAwaited(std::string ranks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    awaited_ = std::move(ranks);
  }

  // On ranks other than 0: waits until rank 0 has renamed or removed the directory of the latest
  // save. If a rank exited with an error earlier, the controller would end rank 0 too.
  void StayForPublication() const {
    const Clock::time_point start = Clock::now();
    PartWatch rank0(PathOfPart(newest_temporary_, 0), options_.absence_seconds);
    Pause pause;
    while (access(newest_temporary_.c_str(), F_OK) == 0 && !rank0.IsGone() &&
           SecondsSince(start) < options_.peer_timeout_seconds) {
      pause.Sleep();
    }
  }

  void Publish(const SaveJob& job, Entries entries) {
    Manifest manifest = {
        job.step,          options_.writer.attempt, options_.world_size, options_.model_fingerprint,
        job.trainer_state, std::move(entries)};
    const std::string text = ManifestToText(manifest);
    for (int rank = 0; rank < options_.world_size; ++rank) {
      RemoveFile(job.temporary, RankEntriesName(rank));
    }
    Retry(job, [&] { WriteFileAtomically(job.temporary + "/" + kManifestName, text); });
    Reach(SavePhase::kManifestWritten);

    std::vector<PublishedCheckpoint> retired;
    {
      CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kPublished);
      event.bytes = static_cast<int64_t>(text.size());
      for (const auto& [_, file] : manifest.entries.files) event.bytes += file.bytes;
      std::optional<FenceLock> lock;
      Retry(job, [&] {
        // Released while the save waits, so that a newer attempt can claim the directory.
        lock.reset();
        lock.emplace(options_.directory);
        lock->CheckNotNewerThan(options_.writer);
        Reach(SavePhase::kFenceHeld);
        Rename(job.temporary, event.path, *lock);
      });
      Retry(job, [&] { SyncDirectory(options_.directory); });
      Reach(SavePhase::kPublished);
      // Reported before older checkpoints are retired, which may be the only ones known to the
      // controller.
      Notify(event);
      retired = Retire(event.path);
    }
    RemoveRetired(retired);
    RemoveTree(job.temporary);  // After the rename, an older checkpoint of the same step is here.
    Reach(SavePhase::kRetained);
  }

  // Publishes the checkpoint. A newer attempt that claims the directory after the check takes the
  // temporary directory away, so that the rename fails.
  void Rename(const std::string& temporary, const std::string& path, const FenceLock& lock) const {
    try {
      ReplaceDirectory(temporary, path);
    } catch (const TrainerError&) {
      lock.CheckNotNewerThan(options_.writer);
      throw;
    }
  }

  // Renames the checkpoints to remove to temporary names while holding the fence: an ended attempt
  // must not remove the checkpoint from which a newer attempt resumes.
  std::vector<PublishedCheckpoint> Retire(const std::string& published) const {
    std::vector<std::string> in_use = {published};
    if (!options_.resumed_from.empty()) in_use.push_back(InThisDirectory(options_.resumed_from));
    std::vector<PublishedCheckpoint> ours = ListCheckpoints(options_.directory);
    std::erase_if(ours, [this](const PublishedCheckpoint& checkpoint) {
      return checkpoint.attempt.job_id != options_.writer.attempt.job_id;
    });
    std::vector<PublishedCheckpoint> retired;
    for (const PublishedCheckpoint& checkpoint :
         CheckpointsToDelete(ours, options_.retention, in_use)) {
      std::error_code error;
      std::filesystem::rename(checkpoint.path, RetiredPath(checkpoint), error);
      if (!error) retired.push_back(checkpoint);
    }
    return retired;
  }

  std::string RetiredPath(const PublishedCheckpoint& checkpoint) const {
    return options_.directory + "/" + TemporaryName(checkpoint.step, options_.writer, 0);
  }

  // If the path names a checkpoint of this directory, returns the path as in ListCheckpoints.
  std::string InThisDirectory(const std::string& checkpoint) const {
    std::error_code error;
    std::filesystem::path path = std::filesystem::weakly_canonical(checkpoint, error);
    if (!path.has_filename()) path = path.parent_path();
    const std::string ours = options_.directory + "/" + path.filename().string();
    return std::filesystem::equivalent(path, ours, error) ? ours : checkpoint;
  }

  std::optional<double> LossIn(const nlohmann::json& trainer_state) const {
    return EvaluationIn(trainer_state).LossOn(options_.retention.best_set);
  }

  void RemoveRetired(const std::vector<PublishedCheckpoint>& retired) const {
    for (const PublishedCheckpoint& checkpoint : retired) {
      RemoveTree(RetiredPath(checkpoint));  // The next attempt removes any remains.
      CheckpointEvent event;
      event.kind = CheckpointEvent::Kind::kDeleted;
      event.step = checkpoint.step;
      event.attempt = checkpoint.attempt.number;
      event.path = checkpoint.path;
      event.bytes = checkpoint.bytes;
      Notify(event);
    }
  }

  // Frees the space and reports the failure to rank 0. Must not throw, because the error being
  // handled is the one to report.
  void DropOutput(const SaveJob& job, const std::string& why) const {
    if (options_.rank == 0) {
      RemoveTree(job.temporary);
      return;
    }
    RemoveFile(job.temporary, RankDataName(options_.rank));
    try {
      WriteFileAtomically(job.temporary + "/" + RankFailedName(options_.rank), why);
    } catch (const TrainerError&) {
      // Rank 0 detects the failure by its time limit.
    }
  }

  // An event with the save's names and times. The caller sets `bytes` and `message`.
  CheckpointEvent EventOf(const SaveJob& job, CheckpointEvent::Kind kind) const {
    CheckpointEvent event;
    event.kind = kind;
    event.step = job.step;
    event.attempt = options_.writer.attempt.number;
    event.path = options_.directory + "/" + StepDirectoryName(job.step);
    event.loss = LossIn(job.trainer_state);
    event.blocking_seconds = job.blocking_seconds;
    event.total_seconds = job.waited_seconds + SecondsSince(job.start);
    return event;
  }

  void ReportFailure(const SaveJob& job, const std::exception& why) const {
    CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kFailed);
    event.message = why.what();
    event.is_unshared = IsUnshared(why);
    Notify(event);
  }

  // Once per save: the cause may differ between tries.
  void ReportBlocked(const SaveJob& job, const std::exception& why) {
    if (std::exchange(blocked_step_, job.step) == job.step) return;
    CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kBlocked);
    event.message = why.what();
    event.is_unshared = IsUnshared(why);
    Notify(event);
  }

  void ReportUnlocked(const SaveJob& job) const {
    CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kUnlocked);
    event.message = host_.UnlockedText();
    if (!event.message.empty()) Notify(event);
  }

  const CheckpointWriterOptions options_;
  HostCopy host_;      // Written by Save, read by the background thread started afterwards.
  int64_t saves_ = 0;  // Equal on every rank: all ranks call Save.
  std::string newest_temporary_;  // Directory of the latest save.
  std::exception_ptr error_;
  bool lost_save_ = false;       // The latest save was lost; read only after thread_ was joined.
  bool have_all_begun_ = false;  // Every rank began the save in flight; only for thread_.
  int64_t blocked_step_ = -1;    // Step of the final save whose kBlocked was reported.

  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_dropped_ = false;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::string awaited_;     // Ranks awaited by the save in flight; guarded by mutex_.
  bool in_flight_ = false;  // Guarded by mutex_ while thread_ runs.

  std::thread thread_;
};

std::string BlockedSaveText(const CheckpointEvent& event) {
  const auto minutes = static_cast<int>(CheckpointWriterOptions().final_wait_seconds / 60);
  return "cannot write the last checkpoint: " + event.message + "; retrying for " +
         std::to_string(minutes) + " minutes, and the ranks keep their state in memory meanwhile" +
         (event.is_unshared ? "" : ": free disk space");
}

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

bool CheckpointWriter::WaitUntilIdle(std::chrono::milliseconds read_timeout) {
  return impl_->WaitUntilIdle(read_timeout);
}

void CheckpointWriter::Finish() { impl_->Finish(); }

bool CheckpointWriter::HasLostSave() const { return impl_->HasLostSave(); }

std::string CheckpointWriter::AwaitedRanks() const { return impl_->AwaitedRanks(); }

void CheckpointWriter::Drop() { impl_->Drop(); }

}  // namespace trainyard::trainer
