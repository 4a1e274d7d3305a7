#include "worker/spool/log_mark_file.h"

#include <gtest/gtest.h>

#include "proto/support/durable_file.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

TEST(LogMarkFileTest, AMarkOfThisClusterComesBack) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/log_mark";
  const LogMarkFile file(path);
  EXPECT_EQ(file.Read("cluster").sequence(), 0u);
  v1::LogMark mark;
  mark.set_term(0xffff'ffff'ffff'ffff);
  mark.set_sequence(12);
  mark.set_job_id(3);
  ASSERT_TRUE(file.Keep(mark, "cluster").ok());
  const v1::LogMark read = file.Read("cluster");
  EXPECT_EQ(read.SerializeAsString(), mark.SerializeAsString());
  EXPECT_EQ(file.Read("another").sequence(), 0u);
  for (const char* damaged :
       {"", "cluster 1 2", "cluster 1 x 3", "cluster 1 2 -3", "cluster 1 2 3 4"}) {
    ASSERT_TRUE(WriteFileAtomically(path, damaged).ok());
    EXPECT_EQ(file.Read("cluster").sequence(), 0u) << damaged;
  }
}

}  // namespace
}  // namespace trainyard::worker
