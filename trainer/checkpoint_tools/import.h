// Makes a checkpoint of a Hugging Face directory: `trainyard ckpt import`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_IMPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_IMPORT_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "trainer/checkpoint_tools/model_family.h"

namespace trainyard::trainer {

struct ImportOptions {
  std::string from;  // with config.json and safetensors
  std::string to;
  bool replace = false;  // a checkpoint that is at `to`
};

struct ImportSummary {
  ImportedModel model;
  int64_t max_positions = 0;  // that config.json names; 0: none
  std::string dropouts;       // that config.json names, which the trainer does not have
  int64_t tensors = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // of all files
};

// Writes a checkpoint of step 0 with the weights as they are, bit for bit, and no state of an
// optimizer: a trainer of any layout can start from it. Memory does not grow with the weights: 128
// MiB, and 128 MiB more for families with transposed tensors. `is_cancelled` is looked at between
// reads. Throws TrainerError: kBadConfig for a model that the trainer does not have, kBadCheckpoint
// for files that are absent or damaged or tensors that do not fit config.json, kUsage for a name
// that is not possible, kCannotWrite, kTerminated when cancelled; then `to` is as it was.
ImportSummary Import(const ImportOptions& options, const std::atomic<bool>& is_cancelled);

// The section `model` of a job file that fits the checkpoint, in YAML, with comments.
std::string JobFileText(const ImportSummary& summary, const ImportOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_IMPORT_H_
