// Saves checkpoints in the background and publishes each by one atomic rename. The format and the
// order of the steps are in README.md of this folder.
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

#include "trainer/checkpoint/fence.h"
#include "trainer/checkpoint/host_copy.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/checkpoint/writer_key.h"

namespace trainyard::trainer {

// Result of a save, or removal of a checkpoint. Delivered on the writer's background thread.
struct CheckpointEvent {
  enum class Kind {
    kPublished,  // Rank 0 only.
    kDeleted,    // Rank 0 only: removed by retention.
    kFailed,     // The save was abandoned and training continues. Never for the final save.
    kBlocked,    // The final save cannot write; it waits and retries. Once per save.
    kUnlocked,   // Memory is not page-locked, so saves delay training. Once, at the first save.
  };
  Kind kind = Kind::kPublished;
  int64_t step = 0;
  int64_t attempt = 0;         // Attempt that published it.
  std::string path;            // Absolute if options.directory is.
  int64_t bytes = 0;           // Total bytes of its files.
  std::optional<double> loss;  // On RetentionPolicy::best_set, if evaluated.
  double blocking_seconds = 0;
  double total_seconds = 0;
  std::string message;  // Reason, for kFailed, kBlocked and kUnlocked.
  // kFailed and kBlocked: ranks do not see the same directory, so more space would not help.
  bool is_unshared = false;
};

// User message for a kBlocked event: the reason, and how long the save is retried.
std::string BlockedSaveText(const CheckpointEvent& event);

// Points that a save passes, in order. Tests kill the process at each point.
enum class SavePhase {
  kCopied,           // Tensors are in host memory; the rest runs in the background.
  kChunksWritten,    // This rank's tensors are on disk.
  kEntriesWritten,   // The list of these tensors is also on disk.
  kAllRanksWritten,  // Rank 0: the lists of all ranks are on disk.
  kManifestWritten,  // Rank 0: the manifest is on disk.
  kFenceHeld,        // Rank 0: about to rename.
  kPublished,        // Rank 0: renamed, not yet reported.
  kRetained,         // Rank 0: old checkpoints are removed.
};

struct CheckpointWriterOptions {
  std::string directory;  // TRAINYARD_CHECKPOINT_DIR; created if missing.
  WriterKey writer;       // Gang that writes the checkpoints.
  int rank = 0;
  int world_size = 1;
  std::string model_fingerprint;  // Stored in the manifest; readers compare it.
  // Compared before each save, so that nothing is written to another directory. Unset: no check.
  std::optional<ClaimedDirectory> claim;
  RetentionPolicy retention;
  std::string resumed_from;           // Checkpoint that retention must keep, or empty.
  double peer_timeout_seconds = 600;  // Time limit of rank 0 for the files of all ranks.
  // Time limit of rank 0 for another rank's first file of a save. Network file system clients may
  // not see a new file for a minute.
  double first_sign_seconds = 120;
  double final_wait_seconds = 1800;  // Time for which the final save retries writing.
  double absence_seconds = 5;        // Absence after which a rank counts as gone.
  std::function<void(const CheckpointEvent&)> on_event;
  std::function<void(SavePhase)> on_phase;
};

enum class SaveKind {
  kPeriodic,  // Without disk space: reports an event, and training continues.
  kFinal,     // Without disk space: waits. Finish() throws after final_wait_seconds.
};

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
