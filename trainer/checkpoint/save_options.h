// Settings, kinds and events of saves.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAVE_OPTIONS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAVE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "trainer/checkpoint/fence.h"
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

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAVE_OPTIONS_H_
