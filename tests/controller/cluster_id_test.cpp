#include "controller/cluster_id.h"

#include <gtest/gtest.h>

#include <fstream>

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

TEST(ClusterIdTest, MakesANewOneOfADamagedFile) {
  const TemporaryDirectory directory;
  std::ofstream(directory.File("cluster_id")) << "torn";
  const auto id = LoadClusterId(directory.path(), false);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id->size(), 32u);
  EXPECT_EQ(LoadClusterId(directory.path(), false).value(), *id);
}

TEST(ClusterIdTest, SaysWhyItCannotBeKept) {
  const auto id = LoadClusterId("/nonexistent", true);
  EXPECT_EQ(id.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard::controller
