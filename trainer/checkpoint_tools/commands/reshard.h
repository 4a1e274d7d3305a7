// Rewrites a checkpoint with another number of files: `trainyard ckpt reshard`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace trainyard::trainer {

// The points that a reshard passes, in order. Tests kill the process at each point.
enum class ReshardPhase {
  kWindowWritten,    // Repeatedly.
  kFilesWritten,     // All files are on disk.
  kManifestWritten,  // The manifest is on disk too. The rename is next.
  kPublished,
};

struct ReshardOptions {
  std::string from;
  std::string to;
  int64_t files = 0;          // Number of files; 0: as needed for about 4 GiB each.
  bool weights_only = false;  // Omits the optimizer state.
  bool replace = false;       // Replaces a checkpoint at `to`.
  std::function<void(ReshardPhase)> on_phase;
};

struct ReshardSummary {
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // Total size of all files.
};

// Writes a checkpoint with the same tensors, trainer state, step and attempt. Reads and verifies
// each needed block once. Each tensor becomes one chunk, unless a file ends within it. Uses at most
// 512 MiB of memory plus the manifest, whatever the size of the checkpoint. Checks `is_cancelled`
// between reads. Throws TrainerError: kBadCheckpoint, kUsage for an invalid name, kCannotWrite,
// kTerminated if canceled. After an exception, `to` is unchanged.
ReshardSummary Reshard(const ReshardOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_
