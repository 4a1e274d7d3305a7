// The parts of a save that other ranks write into the shared directory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_

#include <chrono>
#include <mutex>
#include <string>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/save_steps.h"

namespace trainyard::trainer {

// File by which a rank reports that it cannot write, so that rank 0 stops waiting.
std::string RankFailedName(int rank);

std::string PathOfPart(const std::string& temporary, int rank);

// Rank 0's view of the other ranks. For the background thread, except awaited.
class PeerParts {
 public:
  // `steps` must outlive this.
  explicit PeerParts(SaveSteps& steps) : steps_(steps) {}

  // Waits for every rank's list and merges the lists. Throws TrainerError(kCannotWrite) if a rank
  // does not write its part.
  Entries Gather(const SaveJob& job);

  // Ranks without any file of the save in flight, such as "1-3"; "" if none. Thread-safe.
  std::string awaited() const;
  void SetAwaited(std::string ranks);

 private:
  using Clock = std::chrono::steady_clock;

  double LimitSeconds(const SaveJob& job) const;
  void WaitForRank(const SaveJob& job, int rank, Clock::time_point start);
  void AwaitFirstSigns(const SaveJob& job, Clock::time_point start);
  std::string RanksWithoutSign(const SaveJob& job) const;

  SaveSteps& steps_;
  bool have_all_begun_ = false;  // Every rank began the save in flight.
  mutable std::mutex mutex_;     // Guards awaited_.
  std::string awaited_;
};

// On ranks other than 0: waits until rank 0 has renamed or removed the directory of the latest
// save, until rank 0 is gone, or for peer_timeout_seconds. If a rank exited with an error earlier,
// the controller would end rank 0 too.
void AwaitPublication(const std::string& temporary, const CheckpointWriterOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_
