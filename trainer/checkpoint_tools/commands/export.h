// Converts a checkpoint to a Hugging Face directory: `trainyard ckpt export`.
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
  int64_t shard_bytes = 5'000'000'000;     // Maximum bytes of tensors per file.
  std::optional<torch::ScalarType> dtype;  // kFloat32 or kBFloat16; nullopt: as stored
  bool replace = false;                    // Replace an earlier export at `to`.
};

struct ExportSummary {
  std::string architecture;
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;  // Number of weight files.
  int64_t bytes = 0;  // Total bytes of these files.
};

// Writes config.json and the weights as safetensors, with an index if there are several files,
// without optimizer state. Verifies the checksum of every block it reads. Rounds to bf16 to
// nearest, ties to even. Uses at most 640 MiB of memory plus the manifest, for any checkpoint size.
// Moves the complete directory into place with one rename. Checks `is_cancelled` between reads.
// Throws TrainerError: kBadCheckpoint, kBadConfig for a model outside of all supported Hugging Face
// families, kUsage for an invalid name, kCannotWrite (also if `to` exists and is not empty, or with
// `replace` if it has files not made by an export), kTerminated if cancelled. After an exception
// `to` is unchanged.
ExportSummary Export(const ExportOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_EXPORT_H_
