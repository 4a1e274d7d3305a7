// Verifies token files completely, for --verify-data. For checkpoints see
// checkpoint_tools/verify.h.
#ifndef TRAINYARD_TRAINER_DATA_VERIFICATION_H_
#define TRAINYARD_TRAINER_DATA_VERIFICATION_H_

#include <ostream>
#include <string>

namespace trainyard::trainer {

// Compares directory/train.bin and, if it exists, directory/val.bin with the checksums in their
// headers, and prints a line for each. Throws TrainerError: kNoInput, or kBadData for the first
// file that differs or has no checksum.
void VerifyDataFiles(const std::string& directory, std::ostream& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_VERIFICATION_H_
