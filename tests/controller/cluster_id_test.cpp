#include "controller/cluster_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

TEST(ClusterIdTest, StaysUnlessTheLogIsEmpty) {
  const TemporaryDirectory directory;
  const auto first = LoadClusterId(directory.path(), true);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(LoadClusterId(directory.path(), false).value(), *first);
  EXPECT_NE(LoadClusterId(directory.path(), true).value(), *first);
}

TEST(ClusterIdTest, IsNeverMadeAnewForALogWithJobs) {
  const TemporaryDirectory directory;
  EXPECT_EQ(LoadClusterId(directory.path(), false).status().code(), absl::StatusCode::kDataLoss);
  for (const std::string text : {"torn", "0123456789abcdef0123456789abcde!"}) {
    std::ofstream(directory.File("cluster_id"), std::ios::trunc) << text;
    const auto id = LoadClusterId(directory.path(), false);
    EXPECT_EQ(id.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(id.status().message(), testing::HasSubstr("worker's data directory"));
  }
}

TEST(ClusterIdTest, SpreadsClustersOverTheRendezvousPorts) {
  constexpr int kClusters = 1000, kPorts = 10000;
  std::set<int64_t> offsets;
  for (int i = 0; i < kClusters; ++i) {
    const std::string id = NewClusterId();
    EXPECT_GE(RendezvousOffset(id), 0);
    EXPECT_EQ(RendezvousOffset(id), RendezvousOffset(id));
    offsets.insert(RendezvousOffset(id) % kPorts);
  }
  // 952 of the 1,000 offsets are expected to be distinct. 900 is eleven standard deviations less.
  EXPECT_GT(offsets.size(), 900u);
}

TEST(ClusterIdTest, SaysWhyItCannotBeKept) {
  const auto id = LoadClusterId("/nonexistent", true);
  EXPECT_EQ(id.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard::controller
