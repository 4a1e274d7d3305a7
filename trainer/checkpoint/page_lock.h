// Page-locking of host memory, required by a GPU for asynchronous copies at full speed.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_

#include <cstddef>
#include <string>

namespace trainyard::trainer {

// Locks the pages. Returns the reason if that is impossible (a limit on locked memory, a build
// without CUDA), else "". Copies to and from unlocked memory work, but are slower and block the
// caller.
std::string LockPages(void* memory, size_t bytes);

// Unlocks memory locked by LockPages.
void UnlockPages(void* memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PAGE_LOCK_H_
