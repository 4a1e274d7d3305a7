#include "trainer/checkpoint/host_memory.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

HostMemory::HostMemory(size_t bytes, bool for_gpu) : size_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char*>(memory);
  madvise(data_, bytes, MADV_HUGEPAGE);  // Advice: fewer pages to find and to lock.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t at = 0; at < bytes; at += page) const_cast<volatile char*>(data_)[at] = 0;
  locked_ = for_gpu && LockPages(data_, bytes);
}

HostMemory::~HostMemory() {
  if (locked_) UnlockPages(data_);
  munmap(data_, size_);
}

void UseDevice(torch::Device gpu) {
  const c10::impl::VirtualGuardImpl devices(gpu.type());
  devices.setDevice(gpu);
}

}  // namespace trainyard::trainer
