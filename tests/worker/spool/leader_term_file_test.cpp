#include "worker/spool/leader_term_file.h"

#include <gtest/gtest.h>

#include "proto/support/durable_file.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

TEST(LeaderTermFileTest, ATermOfThisClusterComesBack) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/leader_term";
  const LeaderTermFile file(path);
  EXPECT_EQ(file.Read("cluster"), 1);
  ASSERT_TRUE(file.Keep(int64_t{1} << 40, "cluster").ok());
  EXPECT_EQ(file.Read("cluster"), int64_t{1} << 40);
  EXPECT_EQ(file.Read("another"), 1);
  for (const char* damaged : {"", "cluster", "cluster x", "cluster -3", "cluster 2 3"}) {
    ASSERT_TRUE(WriteFileAtomically(path, damaged).ok());
    EXPECT_EQ(file.Read("cluster"), 1) << damaged;
  }
}

}  // namespace
}  // namespace trainyard::worker
