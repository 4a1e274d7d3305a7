// Options, kinds and events of saves.
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

// States that a save succeeded or failed, or that a checkpoint was removed. The writer delivers the
// event on its background thread.
struct CheckpointEvent {
  enum class Kind {
    kPublished,  // Rank 0 only.
    kDeleted,    // Removed by retention. Only on rank 0.
    kFailed,     // The save was abandoned and training continues. Never for the final save.
    kBlocked,    // The final save cannot write. It waits and retries. Reported once per save.
    kUnlocked,   // Memory is not page-locked, so saves delay training. Reported at first save.
  };
  Kind kind = Kind::kPublished;
  int64_t step = 0;
  int64_t attempt = 0;         // The attempt that published it.
  std::string path;            // Absolute if options.directory is absolute.
  int64_t bytes = 0;           // Total size of the checkpoint's files.
  std::optional<double> loss;  // Loss on RetentionPolicy::best_set, if it was evaluated.
  double blocking_seconds = 0;
  double total_seconds = 0;
  std::string message;  // Reason; set for kFailed, kBlocked and kUnlocked.
  // For kFailed and kBlocked: true if the ranks do not see the same directory. In this case,
  // freeing disk space would not help.
  bool is_unshared = false;
};

// Returns a message to the user for a kBlocked event: the reason, and for how long the save is
// retried.
std::string BlockedSaveText(const CheckpointEvent& event);

// The points that a save passes, in order. Tests kill the process at each point.
enum class SavePhase {
  kCopied,           // The tensors are in host memory; the rest runs in the background.
  kChunksWritten,    // The tensors of this rank are on disk.
  kEntriesWritten,   // The list of this rank's tensors is on disk too.
  kAllRanksWritten,  // Rank 0: the tensors and lists of all ranks are on disk.
  kManifestWritten,  // Rank 0: the manifest is on disk.
  kFenceHeld,        // Rank 0: holds the fence; renames next.
  kPublished,        // Rank 0: has renamed; reports next.
  kRetained,         // Rank 0: has removed old checkpoints.
};

struct CheckpointWriterOptions {
  std::string directory;  // TRAINYARD_CHECKPOINT_DIR; created if missing.
  WriterKey writer;       // The gang that writes the checkpoints.
  int rank = 0;
  int world_size = 1;
  std::string model_fingerprint;  // Stored in the manifest. Readers compare it with theirs.
  // The claimed directory. Before each save, the writer checks that `directory` is still the
  // claimed directory, so that it never writes to another directory. If unset, there is no check.
  std::optional<ClaimedDirectory> claim;
  RetentionPolicy retention;
  std::string resumed_from;           // Checkpoint that retention must keep; may be empty.
  double peer_timeout_seconds = 600;  // Rank 0: time limit for the files of all ranks.
  // Rank 0: time limit for another rank's first file of a save. Clients of a network file system
  // may not see a new file for a minute.
  double first_sign_seconds = 120;
  double final_wait_seconds = 1800;  // Time during which the final save retries to write.
  double absence_seconds = 5;        // Time without a lock after which a rank counts as exited.
  std::function<void(const CheckpointEvent&)> on_event;
  std::function<void(SavePhase)> on_phase;
};

enum class SaveKind {
  kPeriodic,  // If the disk is full: reports an event, and training continues.
  kFinal,     // If the disk is full: waits. Finish() throws after final_wait_seconds.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAVE_OPTIONS_H_
