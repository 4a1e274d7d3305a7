// Converts a checkpoint to a directory in Hugging Face format: `trainyard ckpt export`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_EXPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_EXPORT_H_

#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::trainer {

struct ExportOptions {
  std::string from;
  std::string to;
  int64_t shard_bytes = 5'000'000'000;     // Maximum total size of the tensors in one file.
  std::optional<torch::ScalarType> dtype;  // kFloat32 or kBFloat16; nullopt: the stored dtype
  bool replace = false;                    // Replaces an earlier export at `to`.
};

struct ExportSummary {
  std::string architecture;
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;  // Number of weight files.
  int64_t bytes = 0;  // Total size of the weight files.
};

// Writes config.json and the weights, without optimizer state. The weights are written as
// safetensors, with an index if there are several files. Verifies the checksum of every block that
// it reads. Conversion to bf16 rounds to nearest, ties to even. Uses at most 640 MiB of memory plus
// the manifest, whatever the size of the checkpoint. Moves the complete directory into place with
// one rename. Checks `is_cancelled` between reads.
//
// Throws TrainerError:
// - kBadCheckpoint
// - kBadConfig if no supported Hugging Face family contains the model
// - kUsage for an invalid name
// - kCannotWrite, also if `to` is not empty or, with `replace`, if it contains files that an export
//   does not create
// - kTerminated if canceled
//
// After an exception, `to` is unchanged.
ExportSummary Export(const ExportOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_EXPORT_H_
