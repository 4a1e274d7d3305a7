#include "trainer/checkpoint/peer_parts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "proto/contract/rank_set.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/part_lock.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// The time after which a rank's part of a save is reported as missing if none of its files exists.
constexpr double kSilentPartSeconds = 1.5;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A pause between two polls for files of other ranks. The first pauses are short, because most
// ranks finish at about the same time.
class Pause {
 public:
  void Sleep() {
    std::this_thread::sleep_for(length_);
    length_ = std::min(length_ * 2, std::chrono::milliseconds(200));
  }

 private:
  std::chrono::milliseconds length_{2};
};

// Reads the list of a rank. If the list is unreadable, throws kCannotWrite, so that only this save
// fails. With kBadCheckpoint, the controller would blame the checkpoint from which the attempt
// started.
Entries ReadEntries(int rank, const std::string& path) {
  try {
    return EntriesFromText(ReadFile(path, ExitCode::kCannotWrite), path);
  } catch (const TrainerError& error) {
    throw TrainerError(ExitCode::kCannotWrite, "the file list of rank " + std::to_string(rank) +
                                                   " is invalid: " + error.what());
  }
}

}  // namespace

std::string RankFailedName(int rank) { return RankEntriesName(rank) + ".failed"; }

std::string PathOfPart(const std::string& temporary, int rank) {
  return temporary + "/" + RankDataName(rank);
}

Entries PeerParts::Gather(const SaveJob& job) {
  Entries all;
  const Clock::time_point start = Clock::now();
  have_all_begun_ = false;
  for (int rank = 0; rank < steps_.options().world_size; ++rank) {
    const std::string path = job.temporary + "/" + RankEntriesName(rank);
    WaitForRank(job, rank, start);
    Merge(ReadEntries(rank, path), &all);
  }
  SetAwaited("");
  CheckCoverage(all);
  steps_.Reach(SavePhase::kAllRanksWritten);
  return all;
}

// Returns the time limit for another rank's part. The limit is longer for the final save, because
// the other rank may be waiting for disk space.
double PeerParts::LimitSeconds(const SaveJob& job) const {
  return steps_.options().peer_timeout_seconds +
         (job.kind == SaveKind::kFinal ? steps_.options().final_wait_seconds : 0);
}

void PeerParts::WaitForRank(const SaveJob& job, int rank, Clock::time_point start) {
  const std::string entries = job.temporary + "/" + RankEntriesName(rank);
  const std::string failed = job.temporary + "/" + RankFailedName(rank);
  const std::string who = "rank " + std::to_string(rank);
  std::optional<PartWatch> watch;  // Set once the trainer has begun to exit.
  Pause pause;
  while (FileBytes(entries) < 0) {
    steps_.CheckNotDropped();
    if (FileBytes(failed) >= 0) {
      throw TrainerError(ExitCode::kCannotWrite,
                         who + ": " + ReadFile(failed, ExitCode::kCannotWrite));
    }
    AwaitFirstSigns(job, start);
    if (SecondsSince(start) > LimitSeconds(job)) {
      throw TrainerError(ExitCode::kCannotWrite,
                         who + " did not write its part of " + job.temporary + " in time");
    }
    if (steps_.is_ending() && !watch) {
      watch.emplace(PathOfPart(job.temporary, rank), steps_.options().absence_seconds);
    }
    if (watch && watch->IsGone()) {
      throw TrainerError(ExitCode::kCannotWrite,
                         "the trainer is ending, and " + who + " has disconnected");
    }
    pause.Sleep();
  }
}

// Every rank begins a save by creating a file. If some ranks do not create their files in time,
// fails a periodic save, but only reports a final save as blocked.
void PeerParts::AwaitFirstSigns(const SaveJob& job, Clock::time_point start) {
  const double seconds = SecondsSince(start);
  if (have_all_begun_ || seconds < kSilentPartSeconds) return;
  const std::string silent = RanksWithoutSign(job);
  have_all_begun_ = silent.empty();
  SetAwaited(silent);
  if (have_all_begun_ || seconds < steps_.options().first_sign_seconds) return;
  const UnsharedDirectory error("ranks " + silent + " have created no file in " + job.temporary +
                                " for " + std::to_string(static_cast<int>(seconds)) +
                                " s. Mount the same storage at " + steps_.options().directory +
                                " on every node");
  if (job.kind == SaveKind::kPeriodic) throw error;
  // Reported but not fatal: these ranks still have the state in memory, and their storage may
  // become available again.
  steps_.ReportBlocked(job, error);
}

std::string PeerParts::RanksWithoutSign(const SaveJob& job) const {
  std::vector<int64_t> silent;
  for (int rank = 0; rank < steps_.options().world_size; ++rank) {
    const bool is_seen = FileBytes(PathOfPart(job.temporary, rank)) >= 0 ||
                         FileBytes(job.temporary + "/" + RankEntriesName(rank)) >= 0 ||
                         FileBytes(job.temporary + "/" + RankFailedName(rank)) >= 0;
    if (!is_seen) silent.push_back(rank);
  }
  return silent.empty() ? "" : RankSetText(silent);
}

std::string PeerParts::awaited() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return awaited_;
}

void PeerParts::SetAwaited(std::string ranks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  awaited_ = std::move(ranks);
}

void AwaitPublication(const std::string& temporary, const CheckpointWriterOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  PartWatch rank0(PathOfPart(temporary, 0), options.absence_seconds);
  Pause pause;
  while (access(temporary.c_str(), F_OK) == 0 && !rank0.IsGone() &&
         SecondsSince(start) < options.peer_timeout_seconds) {
    pause.Sleep();
  }
}

}  // namespace trainyard::trainer
