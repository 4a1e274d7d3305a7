// Reads checkpoints completely, for `trainyard ckpt verify` and the trainer's --verify-checkpoint.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_

#include <ostream>
#include <string>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

struct VerifyOptions {
  std::string directory;  // A checkpoint, or a job's checkpoint directory.
  bool all = false;       // All checkpoints of the directory, not only the newest.
};

// Verifies every checksum. Writes a line for each fault and a final line for each checkpoint, and a
// summary line for a job's checkpoint directory. There, a checkpoint without a readable manifest is
// a fault even if it is not the newest, because its age is unknown. A checkpoint removed by
// retention meanwhile is ignored. Returns kOk, or kBadCheckpoint if there are faults. Throws
// TrainerError kBadCheckpoint if there is no checkpoint.
ExitCode VerifyCheckpoints(const VerifyOptions& options, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_
