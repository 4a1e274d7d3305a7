// Saves checkpoints in the background. Each checkpoint is published by one atomic rename. README.md
// in this directory describes the format and the order of the steps.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/checkpoint/host_copy.h"
#include "trainer/checkpoint/save_options.h"

namespace trainyard::trainer {

// Saves the checkpoints of one rank. Every rank creates one writer and calls Save at the same steps
// and with the same kind. The chunks of all ranks together must cover every logical tensor exactly
// once. Not thread-safe: call it only from the training thread.
class CheckpointWriter {
 public:
  // On rank 0, removes unfinished checkpoints of older attempts and of earlier runs of this
  // attempt. Therefore rank 0 must create its writer before any rank saves. Throws TrainerError
  // kCannotWrite if the directory cannot be created.
  explicit CheckpointWriter(CheckpointWriterOptions options);
  // Waits until the save in flight is published or has failed, until a rank whose part is needed
  // has exited, or until peer_timeout_seconds have passed. Without this wait, an error that ends
  // all ranks would lose the save. Does not throw.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Allocates, in the background, host memory for later saves of chunks of these sizes.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Waits for the previous save, starts copying the tensors to host memory, and returns. The rest
  // of the save runs in the background. Returns the seconds for which the save delayed training:
  // the duration of this call plus `waited_seconds`, which the caller spent waiting before the
  // call. The tensors must stay alive, and the caller must call BlockChanges before it changes
  // them.
  //
  // step: number of completed optimizer steps. trainer_state: the state that is not in tensors;
  // only the state of rank 0 is stored.
  //
  // Throws the error of the previous save: kFenced if a newer attempt raised the fence, kInternal
  // if the chunks of the ranks are inconsistent. Does not throw if the previous save was periodic
  // and could not be written, for example because the disk was full.
  double Save(int64_t step, const nlohmann::json& trainer_state,
              const std::vector<TensorChunk>& chunks, SaveKind kind = SaveKind::kPeriodic,
              double waited_seconds = 0);

  // Call BlockChanges before queueing work that changes the tensors of a save. For both functions,
  // see HostCopy.
  void BlockChanges();
  bool CanBlockChanges() const;

  // Waits until no save is in flight, but for at most `read_timeout`. Returns false if a save is
  // still in flight. In that case the next Save would delay training.
  bool WaitUntilIdle(std::chrono::milliseconds read_timeout);

  // Waits for the save in flight. Throws the same errors as Save, and also kCannotWrite if the
  // final save failed.
  void Finish();

  // Returns a list, such as "1-3", of the ranks that have created no file of the save in flight; ""
  // if there are none. Meaningful only on rank 0, while it waits for the parts of the other ranks.
  std::string AwaitedRanks() const;

  // True if the latest save failed on this rank because it could not be written, for example
  // because the disk was full. Training continues in this case. Call it after Finish.
  bool HasLostSave() const;

  // Drops the save in flight if it lacks parts of other ranks, so that the destructor does not wait
  // for these parts. Must be called when the gang continues without some rank.
  void Drop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_
