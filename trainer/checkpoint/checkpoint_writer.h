// Saves checkpoints in the background and publishes each by one atomic rename.
// README.md of this folder gives the format and the order of the steps.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/checkpoint/host_copy.h"
#include "trainer/checkpoint/rolled_back.h"

namespace trainyard::trainer {

// The whole of a tensor as one chunk.
TensorChunk WholeTensor(std::string name, torch::Tensor tensor);

// Rules by which old checkpoints of this job are removed. Checkpoints of other jobs in the
// directory stay.
struct RetentionPolicy {
  int keep_last = 3;             // newest checkpoints kept; at least 1
  int64_t keep_every_steps = 0;  // and every multiple of this is kept for good; 0: none
  int keep_best = 0;             // and so many with the lowest loss on best_set
  std::string best_set;          // evaluation set by which checkpoints are judged; empty: none
  std::vector<RolledBack> rolled_back;  // what these name is removed, whatever the rest says
};

// Result of a save, or the removal of a checkpoint. Delivered on the writer's background thread.
struct CheckpointEvent {
  enum class Kind {
    kPublished,  // rank 0 only
    kDeleted,    // rank 0 only: retention removed it
    kFailed,     // this save was abandoned; training goes on (never for the final save)
    kBlocked,    // the final save cannot write; it waits and tries again. Once a save
    kUnlocked,   // saves delay training: their memory is not page-locked; once, at the first save
  };
  Kind kind = Kind::kPublished;
  int64_t step = 0;
  int64_t attempt = 0;         // of the attempt that published it
  std::string path;            // absolute if options.directory is
  int64_t bytes = 0;           // of all its files
  std::optional<double> loss;  // on RetentionPolicy::best_set, where its run was evaluated
  double blocking_seconds = 0;
  double total_seconds = 0;
  std::string message;  // kFailed, kBlocked and kUnlocked: why
  // kFailed and kBlocked: ranks do not see the same directory, and more space would not help.
  bool is_unshared = false;
};

// A kBlocked event for people: why, and for how long the save is tried again.
std::string BlockedSaveText(const CheckpointEvent& event);

// Points that a save passes, in order; for tests that kill the process at each point.
enum class SavePhase {
  kCopied,           // tensors are in host memory; from here on in the background
  kChunksWritten,    // this rank's tensors are on disk
  kEntriesWritten,   // the list of these tensors is on disk too
  kAllRanksWritten,  // rank 0: the lists of all ranks are on disk
  kManifestWritten,  // rank 0: manifest on disk
  kFenceHeld,        // rank 0: about to rename
  kPublished,        // rank 0: renamed, and not reported yet
  kRetained,         // rank 0: old checkpoints removed
};

struct CheckpointWriterOptions {
  std::string directory;  // TRAINYARD_CHECKPOINT_DIR; made when missing
  AttemptKey attempt;     // that writes the checkpoints
  int rank = 0;
  int world_size = 1;
  std::string model_fingerprint;  // kept in the manifest; readers compare it
  // Compared before each save: nothing is written to another directory. Not set: not compared.
  std::optional<ClaimedDirectory> claim;
  RetentionPolicy retention;
  std::string resumed_from;  // checkpoint directory that retention must not touch, or empty
  double peer_timeout_seconds = 600;  // time limit of rank 0 for the files of all ranks
  // Time limit of rank 0 for the first sign of another rank's work on a save. Clients of network
  // file systems may overlook a new file for a minute.
  double first_sign_seconds = 120;
  double final_wait_seconds = 1800;  // for which the final save tries again to write its files
  double absence_seconds = 5;  // a rank that does not work on its part for so long has gone away
  std::function<void(const CheckpointEvent&)> on_event;
  std::function<void(SavePhase)> on_phase;
};

enum class SaveKind {
  kPeriodic,  // may fail for want of space: an event, and training goes on
  kFinal,     // waits for want of space: Finish() throws once final_wait_seconds are over
};

// Every rank makes one writer and calls Save at the same steps with the same kind. The chunks of
// all ranks together must cover every logical tensor exactly once. Not thread-safe: for the
// training thread.
class CheckpointWriter {
 public:
  // Rank 0 removes half-written checkpoints of older attempts and of earlier runs of this attempt:
  // its writer must exist before any rank saves. Throws TrainerError kCannotWrite when the
  // directory cannot be made.
  explicit CheckpointWriter(CheckpointWriterOptions options);
  // Gives the save in flight its time on every rank, so that an error that ends all ranks does not
  // cost the last good checkpoint: waits until it is published or has failed, or the ranks that it
  // needs have gone away, or peer_timeout_seconds are over. Does not throw.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Makes the host memory that saves of chunks of these sizes need, in the background.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Starts to copy the tensors to host memory and returns; the rest happens in the background.
  // Waits first for the save before this one. Returns the seconds for which the save delayed
  // training: `waited_seconds`, which the caller has already waited to begin it, and this call.
  // The tensors must live, and HoldBackChanges must be called before each change of them.
  // step: optimizer steps completed. trainer_state: everything that is not a tensor; rank 0's is
  // kept. Throws the error of the previous save, except want of space: kFenced when a newer attempt
  // has raised the fence, kInternal when the ranks' chunks do not fit together.
  double Save(int64_t step, const nlohmann::json& trainer_state,
              const std::vector<TensorChunk>& chunks, SaveKind kind = SaveKind::kPeriodic,
              double waited_seconds = 0);

  // To be called before work that changes saved tensors is given to the current stream: that work
  // will wait until the tensors are copied. The caller does not wait.
  void HoldBackChanges();

  // Waits until no save is in flight, for `read_timeout` at most. False when one still is: the next
  // Save would delay training.
  bool WaitUntilIdle(std::chrono::milliseconds read_timeout);

  // Waits for the save in flight. Throws like Save, and kCannotWrite when the final save failed.
  void Finish();

  // Ranks of which rank 0, while it waits for their parts of the save in flight, sees no file yet,
  // such as "1-3"; empty when there are none.
  std::string AwaitedRanks() const;

  // True when the newest save has failed on this rank for want of space. Call after Finish.
  bool HasLostSave() const;

  // The gang goes on without some rank: a save in flight that has not the parts of all ranks is
  // dropped, and nothing is waited for, here and in the destructor.
  void Drop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Spreads replicated tensors over `writers` ranks so that each writes about the same number of
// bytes: element i of the result is the writer of tensor i. Pure and deterministic.
std::vector<int> SpreadByBytes(const std::vector<int64_t>& bytes, int writers);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_WRITER_H_
