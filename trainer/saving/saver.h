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

// The state from which this process starts to train.
struct FirstState {
  int64_t step = 0;
  bool is_saved = false;     // True if it was loaded from a checkpoint.
  std::string resumed_from;  // Checkpoint from which the attempt started, or empty.
};

// All ranks save at the same steps. Use it from one thread only.
class Saver {
 public:
  // Returns the chunks that this rank writes, as views of the live tensors.
  using ChunksFunction = std::function<std::vector<TensorChunk>()>;

  // Creates the checkpoint writer. claim: from ClaimDirectory. `setup` must outlive this object.
  Saver(RankSetup& setup, const FirstState& first, const ClaimedDirectory& claim,
        ChunksFunction chunks);
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Returns and clears the save request of this process, which is then sent with step `step`.
  // StepResult::save reports the requests of all ranks.
  bool TakeRequest(int64_t step);
  // Requests a save of the next state passed to SaveIfDue.
  void Request() { is_requested_ = true; }
  // Requests a save if the settings ask for one at every evaluation, or if they ask for one at the
  // best evaluations and is_best is true.
  void NoteEvaluation(bool is_best);

  // True if a save may begin at the end of `step`. The device must then not run ahead of this step.
  bool MayBeginAt(int64_t step) const;

  // Call it after each step. Begins a save if one is due. If the previous save is still in flight
  // after a short wait, the due save begins at a later step. While training waits, the phase is
  // kCheckpoint; afterwards it is kTrain.
  void SaveIfDue(const TrainingState& state);

  // Call it before the saved tensors change. For details see CheckpointWriter::BlockChanges.
  void BlockChanges() { writer_.BlockChanges(); }

  // Saves the last state in phase kCheckpoint, unless it has already been saved. Waits for the save
  // in flight.
  void Finish(const TrainingState& state);

  // Call it if the gang continues without some rank, after `step` steps. Drops the save in flight.
  // A request that has not led to a save is kept for the next run of this process.
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
  int64_t saved_step_;         // Latest step given to the writer, or loaded; else -1.
  bool is_requested_ = false;  // Reset when a save becomes due.
  int64_t request_step_ = -1;  // Step that was launched with the latest request.
  bool is_pending_ = false;    // True if a save is due but has not begun.
  double wait_seconds_ = 0;    // Time for which the save has delayed training.
  CheckpointReport report_;
  CheckpointWriter writer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SAVING_SAVER_H_
