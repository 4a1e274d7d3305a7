// For tests of daemons on a full disk: a separate disk of a chosen size, mounted at a directory.
#ifndef TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_
#define TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_

#include <cstdint>
#include <string>

namespace trainyard::test {

class SmallDisk {
 public:
  // Creates the directory and mounts a tmpfs of `bytes` bytes on it. The test must run as root.
  SmallDisk(std::string directory, int64_t bytes);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  // Unmounts the disk. Every process that writes to it must have ended.
  ~SmallDisk();

  // False if this user may not mount file systems; the test must then be skipped.
  bool mounted() const { return mounted_; }
  const std::string& directory() const { return directory_; }

  // Allocates all free space except `left` bytes. May be called repeatedly.
  void Fill(int64_t left = 0) const;
  void Empty() const;
  int64_t FreeBytes() const;

 private:
  const std::string directory_;
  bool mounted_ = false;
};

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_
