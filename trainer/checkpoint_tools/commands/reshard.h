// Rewrites a checkpoint into other files: `trainyard ckpt reshard`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace trainyard::trainer {

// Points that a reshard passes, in order. Tests kill the process at each point.
enum class ReshardPhase {
  kWindowWritten,    // Repeatedly.
  kFilesWritten,     // All files are on disk.
  kManifestWritten,  // The manifest too; about to rename.
  kPublished,
};

struct ReshardOptions {
  std::string from;
  std::string to;
  int64_t files = 0;          // 0: files of about 4 GiB.
  bool weights_only = false;  // Omit the optimizer state.
  bool replace = false;       // Replace a checkpoint at `to`.
  std::function<void(ReshardPhase)> on_phase;
};

struct ReshardSummary {
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // Total bytes of all files.
};

// Reads and verifies every needed block once and writes a checkpoint with the same tensors, trainer
// state, step and attempt. Each tensor is one chunk unless a file ends within it. Uses at most 512
// MiB of memory plus the manifest, for any checkpoint size. Checks `is_cancelled` between reads.
// Throws TrainerError: kBadCheckpoint, kUsage for an invalid name, kCannotWrite, kTerminated if
// cancelled. After an exception `to` is unchanged.
ReshardSummary Reshard(const ReshardOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_RESHARD_H_
