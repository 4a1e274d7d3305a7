#include "worker/device/kernel_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

class KernelLogTest : public testing::Test {
 protected:
  KernelLogTest() { Append("boot\n"); }

  void Append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.File("kernel.log");
};

TEST_F(KernelLogTest, ErrorsThatAreLoggedLaterAreFound) {
  Append("6,1,1,-;NVRM: Xid (PCI:0000:3b:00): 48, before the worker started\n");
  KernelLog log(path_);
  ASSERT_TRUE(log.readable());
  EXPECT_TRUE(log.Read(1000).empty());
  Append("6,2,2,-;eth0: link up\n3,3,3,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off\n");
  const auto errors = log.Read(2000);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].xid(), 79);
  EXPECT_EQ(errors[0].device(), "0000:3b:00");
  EXPECT_EQ(errors[0].time_ms(), 2000);
  EXPECT_EQ(log.Read(3000).size(), 1u) << "they are repeated, with their time";
  EXPECT_EQ(log.Read(3000)[0].time_ms(), 2000);
}

TEST_F(KernelLogTest, TheNewestEightAreKept) {
  KernelLog log(path_);
  for (int i = 0; i < 20; ++i) {
    Append(absl::StrCat("3,3,3,-;NVRM: Xid (PCI:0000:3b:00): ", 100 + i, ", error\n"));
  }
  const auto errors = log.Read(1000);
  ASSERT_EQ(errors.size(), 8u);
  EXPECT_EQ(errors.front().xid(), 112);
  EXPECT_EQ(errors.back().xid(), 119);
}

TEST_F(KernelLogTest, ALogThatCannotBeReadHasNoErrors) {
  KernelLog log(path_ + ".missing");
  EXPECT_FALSE(log.readable());
  EXPECT_TRUE(log.Read(1000).empty());
}

}  // namespace
}  // namespace trainyard::worker
