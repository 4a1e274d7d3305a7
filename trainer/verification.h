// Reads data and checkpoints to the last byte: --verify-checkpoint and --verify-data.
#ifndef TRAINYARD_TRAINER_VERIFICATION_H_
#define TRAINYARD_TRAINER_VERIFICATION_H_

#include <ostream>
#include <string>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Checks every checksum of one checkpoint and writes a line for each fault, or one that says that
// there is none. Returns kOk or kBadCheckpoint.
ExitCode VerifyCheckpointFiles(const std::string& checkpoint, std::ostream& out);

// Compares directory/train.bin and, where there is one, directory/val.bin with the checksums in
// their headers, and writes a line for each. Throws TrainerError: kNoInput, or kBadData for the
// first that differs or has no checksum.
void VerifyDataFiles(const std::string& directory, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_VERIFICATION_H_
