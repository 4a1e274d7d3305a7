#include "proto/access/controller_list.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ControllerListTest, AListIsSplitAtCommas) {
  EXPECT_THAT(*SplitControllers("a:1"), ElementsAre("a:1"));
  EXPECT_THAT(*SplitControllers("a:1, [::1]:2"), ElementsAre("a:1", "[::1]:2"));
  for (const char* wrong : {"", ",", "a:1,", ",a:1", "a:1,,b:1"}) {
    EXPECT_THAT(std::string(SplitControllers(wrong).status().message()),
                HasSubstr("has an empty address; write HOST:PORT,HOST:PORT"))
        << wrong;
  }
  EXPECT_THAT(std::string(SplitControllers("a:1,b:1,a:1").status().message()),
              HasSubstr("has a:1 twice"));
  std::string many = "a:1";
  for (int i = 2; i <= 16; ++i) absl::StrAppend(&many, ",a:", i);
  EXPECT_TRUE(SplitControllers(many).ok());
  EXPECT_THAT(std::string(SplitControllers(many + ",b:1").status().message()),
              HasSubstr("has 17 addresses; list at most 16"));
}

TEST(ControllerListTest, ARoundEndsOnceAllHaveFailed) {
  ControllerList list({"a", "b", "c"});
  EXPECT_EQ(list.current(), "a");
  EXPECT_FALSE(list.Advance());
  EXPECT_FALSE(list.Advance());
  EXPECT_EQ(list.current(), "c");
  EXPECT_TRUE(list.Advance());
  EXPECT_EQ(list.current(), "a");
  EXPECT_FALSE(list.Advance());
  list.Succeeded();
  EXPECT_EQ(list.current(), "b") << "the controller that led is tried first";
  EXPECT_FALSE(list.Advance());
  EXPECT_FALSE(list.Advance());
  EXPECT_TRUE(list.Advance());
}

TEST(ControllerListTest, EachFailureOfASingleControllerEndsARound) {
  ControllerList list({"a"});
  EXPECT_FALSE(list.HasSeveral());
  EXPECT_TRUE(list.Advance());
  EXPECT_TRUE(list.Advance());
  EXPECT_EQ(list.current(), "a");
}

TEST(ControllerListTest, AStandbyNamesTheLeader) {
  const absl::Status standby = StandbyError("b:1", "a:1");
  EXPECT_TRUE(absl::IsUnavailable(standby));
  EXPECT_EQ(LeaderNamedBy(standby), "a:1");
  EXPECT_THAT(std::string(standby.message()),
              HasSubstr("the controller at b:1 is a standby; the controller at a:1 leads"));
  EXPECT_EQ(LeaderNamedBy(StandbyError("b:1", "")), "");
  EXPECT_EQ(LeaderNamedBy(absl::UnavailableError("refused")), std::nullopt);
  EXPECT_EQ(LeaderNamedBy(absl::OkStatus()), std::nullopt);
}

}  // namespace
}  // namespace trainyard
