// Reads token files to the last byte: --verify-data. checkpoint_tools/verify.h has checkpoints.
#ifndef TRAINYARD_TRAINER_VERIFICATION_H_
#define TRAINYARD_TRAINER_VERIFICATION_H_

#include <ostream>
#include <string>

namespace trainyard::trainer {

// Compares directory/train.bin and, where there is one, directory/val.bin with the checksums in
// their headers, and writes a line for each. Throws TrainerError: kNoInput, or kBadData for the
// first that differs or has no checksum.
void VerifyDataFiles(const std::string& directory, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_VERIFICATION_H_
