// A file in memory, for readers that open their input by its path.
#ifndef TRAINYARD_TESTS_FUZZ_MEMORY_FILE_H_
#define TRAINYARD_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace trainyard::fuzz {

// Leaves nothing behind, even if the process crashes.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("input", MFD_CLOEXEC)), path_("/proc/self/fd/") {
    FUZZ_EXPECT(fd_ >= 0);
    path_ += std::to_string(fd_);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Replaces the contents.
  void Write(const void* data, size_t size) const {
    FUZZ_EXPECT(ftruncate(fd_, 0) == 0);
    FUZZ_EXPECT(pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size));
  }
  const std::string& path() const { return path_; }

 private:
  const int fd_;
  std::string path_;
};

}  // namespace trainyard::fuzz

#endif  // TRAINYARD_TESTS_FUZZ_MEMORY_FILE_H_
