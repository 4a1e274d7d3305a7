// Page-locks host memory. A GPU needs this for asynchronous copies at full speed.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_

#include <cstddef>
#include <string>

namespace trainyard::trainer {

// Locks the pages and returns "". If they cannot be locked, returns the reason: for example, a
// limit on locked memory or a build without CUDA. Copies to and from unlocked memory work, but they
// are slower and block the caller.
std::string LockPages(void* memory, size_t bytes);

void UnlockPages(void* memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
