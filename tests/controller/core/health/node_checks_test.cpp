#include "controller/core/health/node_checks.h"

#include "controller/core/observations/observe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

class NodeChecksTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.AddNode("a", 1); }

  // Sends the worker's heartbeat with one check
  // result. The node's clock is ahead by `ahead_ms`.
  void Report(int64_t ahead_ms, bool with_checks = true) {
    v1::Heartbeat heartbeat;
    heartbeat.set_time_ms(cluster_.now + ahead_ms);
    if (with_checks) {
      v1::NodeCheck& disk = *heartbeat.add_checks();
      disk.set_name("disk");
      disk.set_found("9 GiB free");
      disk.set_ok(true);
    }
    ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  }
  v1::NodeChecks Checks() const {
    return ChecksOf(cluster_.state, cluster_.state.nodes.at("a"), cluster_.observations);
  }
  v1::NodeCheck Check(const std::string& name) const {
    const v1::NodeChecks checks = Checks();
    for (const v1::NodeCheck& check : checks.checks()) {
      if (check.name() == name) return check;
    }
    ADD_FAILURE() << "no check " << name;
    return {};
  }

  TestCluster cluster_;
};

TEST_F(NodeChecksTest, AReadyNodeIsInContact) {
  EXPECT_TRUE(Check("contact").ok());
  EXPECT_EQ(Check("contact").found(), "ready");
  EXPECT_EQ(Check("contact").advice(), "");
  EXPECT_EQ(Checks().id(), "a");
  EXPECT_EQ(Checks().name(), "a");
  EXPECT_EQ(Checks().state(), v1::NODE_STATE_READY);
}

TEST_F(NodeChecksTest, ALostNodeIsNotAndItsReasonIsShown) {
  cluster_.StopHeartbeats("a");
  cluster_.Pass(10'000);
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
  EXPECT_FALSE(Check("contact").ok());
  EXPECT_THAT(Check("contact").found(), HasSubstr("lost: no heartbeat for"));
  EXPECT_THAT(Check("contact").advice(), HasSubstr("trainyard node remove"));
  EXPECT_EQ(Checks().state(), v1::NODE_STATE_LOST);
}

TEST_F(NodeChecksTest, ASuspectNodeIsNotInContact) {
  cluster_.StopHeartbeats("a");
  cluster_.Pass(4000);
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_FALSE(Check("contact").ok());
}

TEST_F(NodeChecksTest, OnlyContactIsCheckedUntilTheWorkerHasReportedItsOwn) {
  EXPECT_EQ(Checks().checks_size(), 1);
  EXPECT_EQ(Checks().checked_ms(), 0);
  Report(0, /*with_checks=*/false);
  EXPECT_EQ(Checks().checks_size(), 1);
  Report(0);
  EXPECT_EQ(Checks().checks_size(), 4) << "contact, identity, clock and its own";
  EXPECT_EQ(Checks().checked_ms(), cluster_.now);
  EXPECT_EQ(Check("disk").found(), "9 GiB free");
}

TEST_F(NodeChecksTest, ANodeThatTheControllerHasNotHeardHasContactOnly) {
  Report(0);
  cluster_.observations.nodes.clear();
  EXPECT_EQ(Checks().checks_size(), 1);
}

TEST_F(NodeChecksTest, AWorkerThatSendsItsSecretIsNamed) {
  Report(0);
  cluster_.observations.nodes.at("a").older_release = "";
  EXPECT_TRUE(Check("identity").ok());
  cluster_.observations.nodes.at("a").older_release = "1.2";
  EXPECT_FALSE(Check("identity").ok());
  EXPECT_EQ(Check("identity").found(),
            "the worker's release 1.2 sends the node's secret instead of a signature");
  EXPECT_THAT(Check("identity").advice(), HasSubstr("upgrade the worker"));
}

TEST_F(NodeChecksTest, AClockMayBeTwoSecondsOffInEitherDirection) {
  for (const int64_t off_ms : {2000, -2000}) {
    cluster_.observations.nodes.at("a").clock = {};
    Report(off_ms);
    EXPECT_TRUE(Check("clock").ok()) << off_ms;
    EXPECT_EQ(Check("clock").found(), std::to_string(off_ms) + " ms from the controller's clock");
    EXPECT_EQ(Check("clock").advice(), "");
  }
  for (const int64_t off_ms : {2001, -2001}) {
    cluster_.observations.nodes.at("a").clock = {};
    Report(off_ms);
    EXPECT_FALSE(Check("clock").ok()) << off_ms;
    EXPECT_THAT(Check("clock").advice(), HasSubstr("chrony"));
  }
}

}  // namespace
}  // namespace trainyard::controller
