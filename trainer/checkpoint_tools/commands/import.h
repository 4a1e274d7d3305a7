// Converts a directory in Hugging Face format to a checkpoint: `trainyard ckpt import`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_IMPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_IMPORT_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "trainer/checkpoint_tools/families/imported_model.h"

namespace trainyard::trainer {

struct ImportOptions {
  std::string from;  // Directory with config.json and safetensors files.
  std::string to;
  bool replace = false;  // Replaces a checkpoint at `to`.
};

struct ImportSummary {
  ImportedModel model;
  int64_t max_positions = 0;  // Value in config.json; 0 if it is not set there.
  std::string dropouts;       // Dropouts in config.json, which the trainer does not support.
  std::string ignored;        // Keys of config.json that have no effect.
  int64_t tensors = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // Total size of all files.
};

// Writes a checkpoint of step 0 that contains the weights bit for bit and no optimizer state. A
// trainer of any layout can start from it. Uses 128 MiB of memory, plus 128 MiB for families with
// transposed tensors, whatever the size of the model. Checks `is_cancelled` between reads.
//
// Throws TrainerError:
// - kBadConfig for an unsupported model
// - kBadCheckpoint for missing or damaged files, or for tensors that do not match config.json
// - kUsage for an invalid name
// - kCannotWrite
// - kTerminated if canceled
//
// After an exception, `to` is unchanged.
ImportSummary Import(const ImportOptions& options, const std::atomic<bool>& is_cancelled);

// Returns the section `model` of a job file for the checkpoint, as YAML with comments.
std::string JobFileText(const ImportSummary& summary, const ImportOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_IMPORT_H_
