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

// All ranks save at the same steps. Must be used from one thread.
class Saver {
 public:
  // Returns the chunks that this rank writes, as views of the live tensors. Called once, because
  // training changes these tensors in place.
  using ChunksFunction = std::function<std::vector<TensorChunk>()>;

  // Creates the checkpoint writer. `claim` is from ClaimDirectory. `setup` must outlive this
  // object.
  Saver(RankSetup& setup, const FirstState& first, const ClaimedDirectory& claim,
        ChunksFunction chunks);
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Returns and clears this process's save request. The caller sends it to the other ranks with
  // step `step`; StepResult::save then reports the requests of all ranks.
  bool TakeRequest(int64_t step);
  // Requests a save of the next state passed to SaveIfDue.
  void Request() { is_requested_ = true; }
  // Requests a save if the settings ask for one after every evaluation or, if is_best is true, for
  // one after each best evaluation.
  void NoteEvaluation(bool is_best);

  // True if a save may begin at the end of `step`. In that case, the device must not begin the next
  // step before the host has called SaveIfDue.
  bool MayBeginAt(int64_t step) const;

  // Begins a save if one is due. Must be called after each step. If the previous save is still in
  // flight after a short wait, the save begins at a later step instead. The phase is kCheckpoint
  // while training waits, and kTrain afterwards.
  void SaveIfDue(const TrainingState& state);

  // BlockChanges must be called before the saved tensors change. See CheckpointWriter.
  void BlockChanges() { writer_.BlockChanges(); }
  bool CanBlockChanges() const { return writer_.CanBlockChanges(); }

  // Saves the last state in phase kCheckpoint, unless it is already saved, and waits for the save
  // in flight.
  void Finish(const TrainingState& state);

  // Drops the save in flight. Must be called if the gang continues after `step` steps without some
  // rank. A request that has not led to a save is kept for the next run in this process.
  void Drop(int64_t step);

 private:
  void BeginDue(const TrainingState& state);
  void BeginLate(const TrainingState& state);
  bool AreWritersIdle(std::chrono::milliseconds read_timeout);
  void Save(const TrainingState& state, SaveKind kind);
  bool HasLostNewest();
  void ReserveMemory();
  const std::vector<TensorChunk>& Chunks();
  void EnterPhase(Phase phase, int64_t step) { setup_.progress.EnterPhase(phase, step); }

  RankSetup& setup_;
  const ChunksFunction make_chunks_;
  std::vector<TensorChunk> chunks_;  // Empty before the first call of Chunks.
  const int64_t first_step_;
  int64_t saved_step_;         // Latest step passed to the writer or loaded; else -1.
  bool is_requested_ = false;  // Cleared by SaveIfDue.
  int64_t request_step_ = -1;  // Step that was launched with the latest request.
  bool is_pending_ = false;    // True if a save is due but has not begun.
  double wait_seconds_ = 0;    // Time for which the save has delayed training.
  CheckpointReport report_;
  CheckpointWriter writer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SAVING_SAVER_H_
