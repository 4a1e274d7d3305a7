// Writes the contents of a checkpoint into other files: `trainyard ckpt reshard`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_RESHARD_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_RESHARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace trainyard::trainer {

// Points that it passes, in order; for tests that kill the process at each point.
enum class ReshardPhase {
  kWindowWritten,    // again and again
  kFilesWritten,     // all files are on disk
  kManifestWritten,  // the manifest, too; about to rename
  kPublished,
};

struct ReshardOptions {
  std::string from;
  std::string to;
  int64_t files = 0;          // 0: as many as make files of about 4 GiB
  bool weights_only = false;  // leave out the optimizer's state
  bool replace = false;       // a checkpoint that is at `to`
  std::function<void(ReshardPhase)> on_phase;
};

struct ReshardSummary {
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // of all files
};

// Reads every needed block once, checks it, and writes a checkpoint with the same tensors, trainer
// state, step and attempt, in which a tensor is one chunk except where a file ends. Memory does not
// grow with the checkpoint, but for its manifest: at most 512 MiB. `is_cancelled` is looked at
// between reads. Throws TrainerError: kBadCheckpoint, kUsage for a name that is not possible,
// kCannotWrite, kTerminated when cancelled; then `to` is as it was.
ReshardSummary Reshard(const ReshardOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_RESHARD_H_
