// Page-locking in a build without CUDA: there is no device that would need it.
#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

bool LockPages(void*, size_t) { return false; }

void UnlockPages(void*) {}

}  // namespace trainyard::trainer
