// Verifies whole checkpoints, for `trainyard ckpt verify` and the trainer's --verify-checkpoint.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_

#include <ostream>
#include <string>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

struct VerifyOptions {
  std::string directory;  // Directory of a checkpoint, or checkpoint directory of a job.
  bool all = false;       // Verifies all checkpoints of the directory, not only the newest.
};

// Verifies every checksum. Writes one line for each fault and a final line for each checkpoint. For
// a job's checkpoint directory, also writes a summary line. In such a directory, a checkpoint
// without a readable manifest is always a fault: its age is unknown, so it may be the newest. A
// checkpoint that retention removes during the check is ignored. Returns kOk, or kBadCheckpoint if
// there are faults. Throws TrainerError kBadCheckpoint if there is no checkpoint.
ExitCode VerifyCheckpoints(const VerifyOptions& options, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VERIFY_H_
