// A disk of its own and of a chosen size under a directory, for daemons that must meet a full one.
#ifndef TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_
#define TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_

#include <cstdint>
#include <string>

namespace trainyard::test {

class SmallDisk {
 public:
  // Makes the directory and mounts a tmpfs there, for which the test must run as root.
  SmallDisk(std::string directory, int64_t bytes);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  // Unmounts it. Whoever writes there must have ended.
  ~SmallDisk();

  // False when this user may not mount anything: the test is to be skipped.
  bool mounted() const { return mounted_; }
  const std::string& directory() const { return directory_; }

  // Takes all free space but `left` bytes, also again and again, and gives it back.
  void Fill(int64_t left = 0) const;
  void Empty() const;
  int64_t FreeBytes() const;

 private:
  const std::string directory_;
  bool mounted_ = false;
};

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_SMALL_DISK_H_
