#include "trainer/checkpoint/host_memory.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

HostMemory::HostMemory(size_t bytes, bool for_gpu) : size_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char*>(memory);
  madvise(data_, bytes, MADV_HUGEPAGE);  // Only a hint: fewer pages to map and to lock.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t at = 0; at < bytes; at += page) const_cast<volatile char*>(data_)[at] = 0;
  if (!for_gpu) return;
  lock_failure_ = LockPages(data_, bytes);
  locked_ = lock_failure_.empty();
}

HostMemory::~HostMemory() {
  if (locked_) UnlockPages(data_);
  munmap(data_, size_);
}

std::string UnlockedMemoryText(int64_t bytes, const std::string& reason) {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string allowed = limit.rlim_cur == RLIM_INFINITY
                                  ? "no limit"
                                  : "a limit of " + std::to_string(limit.rlim_cur) + " bytes";
  return std::to_string(bytes) + " bytes of host memory for checkpoints cannot be page-locked (" +
         reason +
         "), so every checkpoint delays training while the state is copied from the GPU. This "
         "process "
         "has " +
         allowed +
         " on locked memory (ulimit -l). Raise the limit for the worker (LimitMEMLOCK=infinity for "
         "systemd, --ulimit memlock=-1 for a container), or give the node more free memory.";
}

void UseDevice(torch::Device gpu) {
  const c10::impl::VirtualGuardImpl devices(gpu.type());
  devices.setDevice(gpu);
}

}  // namespace trainyard::trainer
