// Reads checkpoints to the last byte: `trainyard ckpt verify` and the trainer's
// --verify-checkpoint.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VERIFY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VERIFY_H_

#include <ostream>
#include <string>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

struct VerifyOptions {
  std::string directory;  // a checkpoint, or a job's checkpoint directory
  bool all = false;       // every checkpoint of the directory, not only the newest
};

// Checks every checksum, and writes a line for each fault and one at the end of each checkpoint; of
// a job's checkpoint directory also one that sums up. There, a checkpoint without a readable
// manifest is a fault even when it is not the newest: nothing tells how new it is. One that
// retention removes meanwhile is none. Returns kOk, or kBadCheckpoint when there are faults. Throws
// TrainerError kBadCheckpoint when there is no checkpoint.
ExitCode VerifyCheckpoints(const VerifyOptions& options, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VERIFY_H_
