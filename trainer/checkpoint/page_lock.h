// Page-locking of host memory, which a GPU needs to copy into it at full speed and on its own.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_

#include <cstddef>
#include <string>

namespace trainyard::trainer {

// Locks the pages. Returns the reason when that is impossible (a limit on locked memory, a build
// without CUDA), else nothing. Copies into memory that is not locked work, but slower and with the
// caller waiting.
std::string LockPages(void* memory, size_t bytes);

// Unlocks memory that LockPages has locked.
void UnlockPages(void* memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
