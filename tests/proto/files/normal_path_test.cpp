#include "proto/files/normal_path.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace trainyard {
namespace {

TEST(NormalPathTest, HasOneSpellingForAPath) {
  EXPECT_EQ(NormalPath("/a//b/./c/../d/"), "/a/b/d");
  EXPECT_EQ(NormalPath("/"), "/");
  EXPECT_EQ(NormalPath("/../../proc"), "/proc");
  EXPECT_EQ(NormalPath("../a/../../b"), "../../b");
  EXPECT_EQ(NormalPath(""), "");
}

TEST(NormalPathTest, KnowsTheKernelsFilesByTheirPath) {
  for (const char* path : {"/proc", "/proc/self/root/tmp", "//proc/1", "/../sys", "/dev/null"}) {
    EXPECT_TRUE(IsKernelPath(path)) << path;
  }
  for (const char* path : {"/process", "/a/proc", "/dev/shm", "/dev/shm/a", "proc", ""}) {
    EXPECT_FALSE(IsKernelPath(path)) << path;
  }
}

TEST(NormalPathTest, KnowsTheKernelsFilesBehindALink) {
  std::string directory = testing::TempDir() + "/kernel_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string link = directory + "/link";
  ASSERT_EQ(symlink("/proc/self/task", link.c_str()), 0);
  EXPECT_TRUE(IsOnKernelFileSystem(link));
  EXPECT_TRUE(IsOnKernelFileSystem(link + "/none/deeper"));
  EXPECT_FALSE(IsOnKernelFileSystem(directory));
  EXPECT_FALSE(IsOnKernelFileSystem(directory + "/none/deeper"));
  EXPECT_EQ(unlink(link.c_str()), 0);
  EXPECT_EQ(rmdir(directory.c_str()), 0);
}

}  // namespace
}  // namespace trainyard
