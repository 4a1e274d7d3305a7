// Verifies whole token files, for --verify-data. checkpoint_tools/commands/verify.h does this for
// checkpoints.
#ifndef TRAINYARD_TRAINER_DATA_VERIFICATION_H_
#define TRAINYARD_TRAINER_DATA_VERIFICATION_H_

#include <ostream>
#include <string>

namespace trainyard::trainer {

// Compares directory/train.bin and, if it exists, directory/val.bin with the checksums in their
// headers. Prints one line per file. Throws TrainerError for the first file that fails: kNoInput if
// it cannot be read, kBadData if it differs or has no checksum.
void VerifyDataFiles(const std::string& directory, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_VERIFICATION_H_
