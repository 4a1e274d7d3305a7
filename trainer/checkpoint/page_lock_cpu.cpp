// Page-locking in a build without CUDA. Does nothing, because no device needs page-locked memory.
#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

std::string LockPages(void*, size_t) { return "this build has no CUDA"; }

void UnlockPages(void*) {}

}  // namespace trainyard::trainer
