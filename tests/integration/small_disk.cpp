#include "tests/integration/small_disk.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/files/unique_fd.h"

namespace trainyard::test {
namespace {

std::string FillerIn(const std::string& directory) { return directory + "/filler"; }

}  // namespace

SmallDisk::SmallDisk(std::string directory, int64_t bytes) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  mounted_ = mount("small-disk", directory_.c_str(), "tmpfs", 0,
                   absl::StrCat("size=", bytes, ",mode=0700").c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) umount2(directory_.c_str(), MNT_DETACH);
}

int64_t SmallDisk::FreeBytes() const {
  struct statvfs disk {};
  EXPECT_EQ(statvfs(directory_.c_str(), &disk), 0);
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

void SmallDisk::Fill(int64_t left) const {
  const UniqueFd filler(open(FillerIn(directory_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(filler.valid());
  // A failed allocation allocates nothing. If it fails, another process took space in the meantime,
  // so the free space is read again.
  for (int64_t bytes = FreeBytes() - left; bytes > 0; bytes = FreeBytes() - left) {
    struct stat info {};
    ASSERT_EQ(fstat(filler.get(), &info), 0);
    if (fallocate(filler.get(), 0, info.st_size, bytes) == 0) return;
    ASSERT_EQ(errno, ENOSPC);
  }
}

void SmallDisk::Empty() const { std::filesystem::remove(FillerIn(directory_)); }

}  // namespace trainyard::test
