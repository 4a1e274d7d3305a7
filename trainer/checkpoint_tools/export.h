// Makes a Hugging Face directory of a checkpoint: `trainyard ckpt export`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_EXPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_EXPORT_H_

#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::trainer {

struct ExportOptions {
  std::string from;
  std::string to;
  int64_t shard_bytes = 5'000'000'000;     // of the tensors in a file, at most
  std::optional<torch::ScalarType> dtype;  // kFloat32 or kBFloat16; nullopt: as stored
  bool replace = false;                    // an earlier export that is at `to`
};

struct ExportSummary {
  std::string architecture;
  int64_t step = 0;
  int64_t tensors = 0;
  int64_t files = 0;  // with weights
  int64_t bytes = 0;  // of these files
};

// Writes config.json and the weights as safetensors, with an index where there are several files,
// and nothing of the optimizer. Every block that is read is compared with its checksum. bf16 is
// rounded to nearest, ties to even. Memory does not grow with the checkpoint, but for its manifest:
// at most 640 MiB. One rename puts the directory in place. `is_cancelled` is looked at between
// reads. Throws TrainerError: kBadCheckpoint, kBadConfig for a model that no family of Hugging Face
// has, kUsage for a name that is not possible, kCannotWrite also when `to` exists and is not empty,
// or with `replace` when it has files that no export makes, kTerminated when cancelled; then `to`
// is as it was.
ExportSummary Export(const ExportOptions& options, const std::atomic<bool>& is_cancelled);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_EXPORT_H_
