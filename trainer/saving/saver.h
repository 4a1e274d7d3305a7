// Decides when a training run saves a checkpoint, and saves it.
#ifndef TRAINYARD_TRAINER_SAVING_SAVER_H_
#define TRAINYARD_TRAINER_SAVING_SAVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/report/checkpoint_report.h"
#include "trainer/start/rank_setup.h"
#include "trainer/state/training_state.h"

namespace trainyard::trainer {

// State from which this process trains.
struct FirstState {
  int64_t step = 0;
  bool is_saved = false;     // Loaded from a checkpoint.
  std::string resumed_from;  // Checkpoint that the attempt started from, or empty.
};

// All ranks save at the same steps. Use from one thread.
class Saver {
 public:
  // Chunks that this rank writes, as views of the live tensors.
  using ChunksFunction = std::function<std::vector<TensorChunk>()>;

  // Creates the checkpoint writer. claim: see ClaimDirectory. `setup` must outlive this.
  Saver(RankSetup& setup, const FirstState& first, const ClaimedDirectory& claim,
        ChunksFunction chunks);
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Takes this process's save request, to be sent with step `step`. StepResult::save reports the
  // requests of all ranks.
  bool TakeRequest(int64_t step);
  // Requests a save of the next state passed to SaveIfDue.
  void Request() { is_requested_ = true; }
  // Requests a save if the settings ask for one at each evaluation, or at the best ones.
  void NoteEvaluation(bool is_best);

  // True if a save may begin at the end of `step`, so that the device must not run ahead of it.
  bool MayBeginAt(int64_t step) const;

  // Call after each step. If a save is due, begins it. If the previous save is still in flight
  // after a short wait, the save begins later. Changes the phase to kCheckpoint while training
  // waits, then to kTrain.
  void SaveIfDue(const TrainingState& state);

  // Call before the saved tensors change. See CheckpointWriter::BlockChanges.
  void BlockChanges() { writer_.BlockChanges(); }

  // Saves the last state in phase kCheckpoint, unless it is saved. Waits for the save in flight.
  void Finish(const TrainingState& state);

  // Call when the gang continues without some rank, after `step` steps. Drops the save in flight,
  // and keeps a request that did not lead to a save for the next run of this process.
  void Drop(int64_t step);

 private:
  void BeginDue(const TrainingState& state);
  void BeginLate(const TrainingState& state);
  bool AreWritersIdle(std::chrono::milliseconds read_timeout);
  void Save(const TrainingState& state, SaveKind kind);
  bool HasLostNewest();
  void ReserveMemory();
  void EnterPhase(Phase phase, int64_t step) { setup_.progress.EnterPhase(phase, step); }

  RankSetup& setup_;
  const ChunksFunction chunks_;
  const int64_t first_step_;
  int64_t saved_step_;         // Latest step passed to the writer, or loaded; else -1.
  bool is_requested_ = false;  // Reset when the save is due.
  int64_t request_step_ = -1;  // Step launched with the latest request of this process.
  bool is_pending_ = false;    // A due save has not begun yet.
  double wait_seconds_ = 0;    // Seconds that it has delayed training.
  CheckpointReport report_;
  CheckpointWriter writer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SAVING_SAVER_H_
