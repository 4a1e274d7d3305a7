#include "controller/core/decide/hand_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StandbyReport StandbyAt(const std::string& address, bool is_ready = true, int64_t position = 0) {
  return {.address = address,
          .version = "1.0",
          .reported_ms = is_ready ? 300 : 42'000,
          .position = position,
          .is_ready = is_ready};
}

ControllerGroup GroupOf(std::vector<StandbyReport> standbys) {
  return {.leader = "a:1", .can_have_standbys = true, .standbys = std::move(standbys)};
}

v1::HandOverRequest RequestTo(const std::string& address) {
  v1::HandOverRequest request;
  request.set_to(address);
  return request;
}

// Returns the message of the refusal.
std::string HandOverRefusal(const ControllerGroup& group, const v1::HandOverRequest& request) {
  const absl::Status status = ChooseSuccessor(group, request).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  return std::string(status.message());
}

TEST(HandOverTest, TheNamedStandbyLeadsNextIfItIsReady) {
  EXPECT_EQ(*ChooseSuccessor(GroupOf({StandbyAt("b:1"), StandbyAt("c:1")}), RequestTo("c:1")),
            "c:1");
}

TEST(HandOverTest, WithoutANameTheStandbyThatIsFurthestLeadsNext) {
  const auto group = GroupOf({StandbyAt("b:1", true, 5), StandbyAt("c:1", true, 9),
                              StandbyAt("d:1", false, 20), StandbyAt("e:1", true, 9)});
  EXPECT_EQ(*ChooseSuccessor(group, {}), "c:1");
}

TEST(HandOverTest, AStandbyThatDoesNotReportIsRefused) {
  EXPECT_THAT(
      HandOverRefusal(GroupOf({StandbyAt("b:1", false), StandbyAt("c:1")}), RequestTo("b:1")),
      HasSubstr("the standby b:1 has not reported for 42 s; ready standbys: c:1"));
  EXPECT_THAT(HandOverRefusal(GroupOf({StandbyAt("b:1", false)}), {}),
              HasSubstr("no standby is ready; start another controller on the same database"));
}

TEST(HandOverTest, AnotherAddressIsNoStandby) {
  EXPECT_THAT(HandOverRefusal(GroupOf({StandbyAt("b:1"), StandbyAt("c:1")}), RequestTo("x:1")),
              HasSubstr("x:1 is not a standby of this cluster; ready standbys: b:1, c:1"));
  EXPECT_THAT(HandOverRefusal(GroupOf({}), RequestTo("x:1")), HasSubstr("no standby is ready"));
}

TEST(HandOverTest, TheLeaderItselfIsNoSuccessor) {
  EXPECT_THAT(HandOverRefusal(GroupOf({StandbyAt("b:1")}), RequestTo("a:1")),
              HasSubstr("a:1 leads already"));
  // A row of the time before it led.
  EXPECT_THAT(HandOverRefusal(GroupOf({StandbyAt("a:1")}), {}), HasSubstr("no standby is ready"));
}

TEST(HandOverTest, ARepeatedRequestDoesNotHandOverAgain) {
  v1::HandOverRequest request;
  request.set_from("b:1");
  EXPECT_THAT(HandOverRefusal(GroupOf({StandbyAt("b:1")}), request),
              HasSubstr("a:1 leads, and not b:1"));
  request.set_from("a:1");
  EXPECT_EQ(*ChooseSuccessor(GroupOf({StandbyAt("b:1")}), request), "b:1");
}

TEST(HandOverTest, AStoreInFilesHasOneController) {
  EXPECT_THAT(HandOverRefusal({}, {}), HasSubstr("several controllers need a PostgreSQL database"));
}

TEST(HandOverTest, TooLongAddressesAreRefused) {
  const std::string longest(257, 'a');
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseSuccessor(GroupOf({}), RequestTo(longest)).status()));
  v1::HandOverRequest request;
  request.set_from(longest);
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseSuccessor(GroupOf({}), request).status()));
}

TEST(HandOverTest, TheEventNamesTheUserAndBothControllersAndChangesNoState) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const std::string before = Bytes(cluster.state);
  const auto events =
      cluster.Do(RecordHandOver{"a:1", "b:1", {"ada", Verification::kPeerCredentials}});
  ASSERT_THAT(Kinds(events), ElementsAre("LeadershipHandedOver"));
  EXPECT_EQ(events[0].actor(), "user ada");
  EXPECT_TRUE(events[0].actor_verified());
  EXPECT_EQ(events[0].leadership_handed_over().from(), "a:1");
  EXPECT_EQ(events[0].leadership_handed_over().to(), "b:1");
  EXPECT_EQ(Bytes(cluster.state), before);
}

}  // namespace
}  // namespace trainyard::controller
