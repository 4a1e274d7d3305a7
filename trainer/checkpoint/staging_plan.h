// Decides which part of a copy to host memory is first copied within device memory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STAGING_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STAGING_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::trainer {

// The speed of earlier copies from a device to host memory; 0 if unknown.
struct CopySpeed {
  double bytes_per_second = 0;
  double seconds_to_update = 0;  // From the first copied byte until training changes the tensors.
};

// Returns the number of leading pieces to copy directly to host memory. The others are staged:
// copied to free device memory at once, and from there to host memory after the direct pieces.
// Training may change the tensors as soon as the direct pieces are copied and the others are
// staged.
//
// Copies directly what 85 % of the time until the update suffices for, because staging costs memory
// bandwidth. Copies more directly if the staged pieces would not fit into `free_bytes`; the update
// then waits. If the speed is unknown, copies all pieces directly.
size_t DirectPieces(const std::vector<int64_t>& piece_bytes, int64_t free_bytes,
                    const CopySpeed& speed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STAGING_PLAN_H_
