#include "controller/rpc/log_followers.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

TEST(LogFollowersTest, TellsTheFollowersOfTheJobUntilTheyLeave) {
  LogFollowers followers;
  int first = 0;
  int second = 0;
  auto one = followers.Add(1, [&] { ++first; });
  const auto two = followers.Add(1, [&] { ++second; });
  const auto other = followers.Add(2, [] { FAIL() << "another job"; });
  followers.Notify(1);
  one.reset();
  followers.Notify(1);
  followers.Notify(3);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

// A notification removes the followers that have left, but a job without output never triggers a
// notification.
TEST(LogFollowersTest, FollowersOfQuietJobsThatLeftAreForgotten) {
  LogFollowers followers;
  const auto stays = followers.Add(1, [] {});
  for (int i = 0; i < 10'000; ++i) followers.Add(i, [] {});
  EXPECT_LE(followers.size(), 2 * LogFollowers::kSmallest);
}

}  // namespace
}  // namespace trainyard::controller
