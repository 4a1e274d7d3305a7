// Saves checkpoints in the background and publishes each by one atomic rename. The format and the
// order of the steps are in README.md of this folder.
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

// Every rank creates one writer and calls Save at the same steps with the same kind. The chunks of
// all ranks together must cover every logical tensor exactly once. Not thread-safe: for the
// training thread.
class CheckpointWriter {
 public:
  // On rank 0, removes unfinished checkpoints of older attempts and of earlier runs of this
  // attempt, so rank 0's writer must exist before any rank saves. Throws TrainerError kCannotWrite
  // if the directory cannot be created.
  explicit CheckpointWriter(CheckpointWriterOptions options);
  // Lets the save in flight finish on every rank, so that an error that ends all ranks does not
  // lose it: waits until it is published or has failed, until a rank it needs is gone, or for
  // peer_timeout_seconds. Does not throw.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Allocates the host memory for saves of chunks of these sizes, in the background.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Starts copying the tensors to host memory and returns; the rest runs in the background. First
  // waits for the previous save. Returns the seconds by which the save delayed training:
  // `waited_seconds`, spent by the caller before this call, plus the duration of this call. The
  // tensors must stay alive, and BlockChanges must be called before each change of them. step:
  // completed optimizer steps. trainer_state: the non-tensor state; rank 0's is stored. Throws the
  // error of the previous save, unless that was a lack of disk space: kFenced if a newer attempt
  // raised the fence, kInternal if the ranks' chunks are inconsistent.
  double Save(int64_t step, const nlohmann::json& trainer_state,
              const std::vector<TensorChunk>& chunks, SaveKind kind = SaveKind::kPeriodic,
              double waited_seconds = 0);

  // Call before queueing work that changes saved tensors on the current stream: that work then
  // waits until the tensors are copied. The caller does not wait.
  void BlockChanges();

  // Waits until no save is in flight, at most for `read_timeout`. Returns false if one still is:
  // the next Save would then delay training.
  bool WaitUntilIdle(std::chrono::milliseconds read_timeout);

  // Waits for the save in flight. Throws like Save, and kCannotWrite if the final save failed.
  void Finish();

  // Ranks without any file of the save in flight, as seen by rank 0 while it waits for their parts,
  // such as "1-3"; "" if none.
  std::string AwaitedRanks() const;

  // True if the latest save failed on this rank for lack of disk space. Call after Finish.
  bool HasLostSave() const;

  // Call when the gang continues without some rank. Drops a save in flight that lacks parts of
  // other ranks. Neither this call nor the destructor waits for them.
  void Drop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_
