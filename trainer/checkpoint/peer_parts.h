// Waits for the parts of a save that the other ranks write into the shared directory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_

#include <chrono>
#include <mutex>
#include <string>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/save_steps.h"

namespace trainyard::trainer {

// Returns the name of a file that a rank creates if it cannot write its part, so that rank 0 stops
// waiting.
std::string RankFailedName(int rank);

std::string PathOfPart(const std::string& temporary, int rank);

// Rank 0's view of the parts of the other ranks. Use it only from the background thread, except
// awaited().
class PeerParts {
 public:
  // `steps` must outlive this object.
  explicit PeerParts(SaveSteps& steps) : steps_(steps) {}

  // Waits for the list of every rank and merges the lists. Throws TrainerError(kCannotWrite) if a
  // rank does not write its part.
  Entries Gather(const SaveJob& job);

  // Returns a list, such as "1-3", of the ranks that have created no file of the save in flight; ""
  // if there are none. Thread-safe.
  std::string awaited() const;
  void SetAwaited(std::string ranks);

 private:
  using Clock = std::chrono::steady_clock;

  double LimitSeconds(const SaveJob& job) const;
  void WaitForRank(const SaveJob& job, int rank, Clock::time_point start);
  void AwaitFirstSigns(const SaveJob& job, Clock::time_point start);
  std::string RanksWithoutSign(const SaveJob& job) const;

  SaveSteps& steps_;
  bool have_all_begun_ = false;  // True once every rank has begun the save in flight.
  mutable std::mutex mutex_;     // Guards awaited_.
  std::string awaited_;
};

// For ranks other than 0: waits until rank 0 has renamed or removed the directory of the latest
// save, until rank 0 has exited, or for peer_timeout_seconds. Without this wait, a rank that exits
// with an error would make the controller end rank 0, and the save would be lost.
void AwaitPublication(const std::string& temporary, const CheckpointWriterOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PEER_PARTS_H_
