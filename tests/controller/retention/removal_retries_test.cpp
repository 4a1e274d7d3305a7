#include "controller/retention/removal_retries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RemovalRetriesTest, WaitsGrowUntilTheRemovalIsAbandoned) {
  RemovalRetries retries;
  RemovalRetries::Time now{};
  std::vector<int64_t> waits;
  while (retries.IsDue("/a", now)) {
    EXPECT_THAT(retries.Warnings(), IsEmpty());
    const std::string line = retries.Failed(7, "/a", "cannot remove /a: no", now);
    EXPECT_THAT(line, AllOf(HasSubstr("/a"), HasSubstr("job 7"), HasSubstr("no")));
    if (!retries.NextTry().has_value()) break;
    const RemovalRetries::Time next = *retries.NextTry();
    EXPECT_FALSE(retries.IsDue("/a", next - seconds(1)));
    waits.push_back(std::chrono::duration_cast<seconds>(next - now).count());
    now = next;
  }
  EXPECT_THAT(waits, ElementsAre(10, 30, 90, 270, 810, 2430, 3600));
  EXPECT_FALSE(retries.IsDue("/a", now + std::chrono::hours(1000)));
  EXPECT_THAT(retries.Warnings(),
              ElementsAre(AllOf(HasSubstr("/a of deleted job 7 could not be removed"),
                                HasSubstr("stopped trying after 8 tries"), HasSubstr("by hand"))));
}

TEST(RemovalRetriesTest, EachPathHasItsOwnTries) {
  RemovalRetries retries;
  const RemovalRetries::Time now{};
  EXPECT_FALSE(retries.NextTry().has_value());
  retries.Failed(7, "/a", "no", now);
  EXPECT_FALSE(retries.IsDue("/a", now));
  EXPECT_TRUE(retries.IsDue("/b", now));
  retries.Failed(7, "/b", "no", now - seconds(4));
  EXPECT_EQ(retries.NextTry(), now + seconds(6));
  retries.Succeeded("/b");
  EXPECT_EQ(retries.NextTry(), now + seconds(10));
  EXPECT_TRUE(retries.IsDue("/b", now));
}

TEST(RemovalRetriesTest, WarningsAreFew) {
  RemovalRetries retries;
  for (int path = 0; path < 30; ++path) {
    for (int i = 0; i < kMaxRemovalTries; ++i) retries.Failed(7, absl::StrCat("/", path), "no", {});
  }
  ASSERT_THAT(retries.Warnings(), SizeIs(11));
  EXPECT_THAT(retries.Warnings().back(), HasSubstr("20 more"));
}

}  // namespace
}  // namespace trainyard::controller
