#include "controller/core/observations/root_sightings.h"

#include <algorithm>

#include "controller/core/explain/explain.h"
#include "controller/core/explain/preview.h"
#include "controller/core/health/node_checks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RootSightingsTest : public testing::Test {
 protected:
  RootSightingsTest() { Roots().path = cluster_.options.checkpoint_root; }

  RootSightings& Roots() { return cluster_.observations.roots; }
  // Adds a node with one slot. The node reports a nonce of this letter for the root directory. A
  // blank (' ') means no report.
  void AddNode(const std::string& id, char directory) {
    cluster_.AddNode(id, 1);
    if (directory != ' ') See(id, directory);
  }
  void See(const std::string& id, char directory) {
    v1::Heartbeat heartbeat;
    heartbeat.mutable_checkpoint_root()->set_path(Roots().path);
    heartbeat.mutable_checkpoint_root()->set_nonce(std::string(32, directory));
    NoteRoot(id, heartbeat, cluster_.now, Roots());
  }
  void SeeNone(const std::string& id) {
    v1::Heartbeat heartbeat;
    heartbeat.mutable_checkpoint_root()->set_path(Roots().path);
    heartbeat.mutable_checkpoint_root()->set_problem("the directory has not answered for 10 s");
    NoteRoot(id, heartbeat, cluster_.now, Roots());
  }
  v1::WhyJobResponse Why(int64_t job) {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job));
  }
  v1::PlanJobResponse Plan(const v1::JobSpec& spec) {
    const auto plan = PreviewJob(cluster_.View(), spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : v1::PlanJobResponse();
  }
  v1::NodeCheck Check(const std::string& id) { return RootCheck(cluster_.state, id, Roots()); }

  TestCluster cluster_;
};

TEST_F(RootSightingsTest, AGangGoesToNodesThatShareTheRoot) {
  AddNode("a", '1');
  AddNode("b", '2');
  AddNode("c", '1');
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "a:0 c:0");
}

TEST_F(RootSightingsTest, AGangWithoutNodesThatShareTheRootWaitsAndSaysWhy) {
  AddNode("a", '1');
  AddNode("b", '2');
  EXPECT_FALSE(Plan(TestSpec("job", 2, 1)).starts_now());
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job).answer(),
              HasSubstr("needs 2 nodes with 1 cpu slot each on nodes that "
                        "all see the same checkpoint root /checkpoints: a sees "
                        "one directory at /checkpoints, b sees another directory"));
  EXPECT_THAT(Why(job).pending().advice(), HasSubstr("mount the same storage at /checkpoints"));
  See("b", '1');
  EXPECT_TRUE(Plan(TestSpec("other", 2, 1)).pending().queue_position() > 0) << "behind the first";
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0");
}

TEST_F(RootSightingsTest, ANodeThatSeesNoDirectoryIsInNoGangThatSaves) {
  AddNode("a", '1');
  AddNode("b", ' ');
  SeeNone("b");
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(
      Why(job).answer(),
      HasSubstr("b sees no directory at /checkpoints: the directory has not answered for 10 s"));
}

TEST_F(RootSightingsTest, NodesThatReportNothingAreNotJudged) {
  AddNode("a", '1');
  AddNode("b", ' ');
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0");
  EXPECT_EQ(Check("b").name(), "");
  EXPECT_TRUE(Check("a").ok());
}

TEST_F(RootSightingsTest, JobsOfOneNodeStartWithAWarning) {
  AddNode("a", '1');
  AddNode("b", '2');
  const v1::PlanJobResponse plan = Plan(TestSpec("job", 1, 1));
  EXPECT_TRUE(plan.starts_now());
  EXPECT_THAT(plan.pending().advice(), AllOf(HasSubstr("may not find the job's checkpoints"),
                                             HasSubstr("b sees another directory")));
  const int64_t job = cluster_.Submit("job", 1, 1);
  const std::vector<v1::Event> events = cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  const auto alert = std::ranges::find_if(events, &v1::Event::has_alert_raised);
  ASSERT_NE(alert, events.end());
  EXPECT_EQ(alert->alert_raised().code(), "unshared_root");
  EXPECT_EQ(alert->alert_raised().message(), plan.pending().advice());
}

TEST_F(RootSightingsTest, GangsThatSaveElsewhereOrNothingNeedNoSharedRoot) {
  AddNode("a", '1');
  AddNode("b", '2');
  v1::JobSpec elsewhere = TestSpec("elsewhere", 2, 1);
  elsewhere.mutable_checkpoint()->set_dir("/checkpoints-of-mine/x");
  v1::JobSpec below = elsewhere;
  below.mutable_checkpoint()->set_dir("/checkpoints/./x");
  v1::JobSpec evaluation = TestSpec("evaluation", 2, 1);
  evaluation.mutable_evaluation()->set_only(true);
  EXPECT_FALSE(NeedsSharedRoot(elsewhere, 2, Roots()));
  EXPECT_FALSE(NeedsSharedRoot(evaluation, 2, Roots()));
  EXPECT_TRUE(NeedsSharedRoot(below, 2, Roots()));
  EXPECT_FALSE(NeedsSharedRoot(below, 1, Roots()));
  const int64_t job = cluster_.Submit(elsewhere);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST_F(RootSightingsTest, SparesShareTheRootToo) {
  AddNode("a", '1');
  AddNode("b", '1');
  AddNode("c", '2');
  const int64_t job = cluster_.Submit(SparesSpec("job", 2, 1, 1));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  See("c", '1');
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0 c:0");
}

TEST_F(RootSightingsTest, ARecoveringGangLeavesANodeThatLostTheRoot) {
  AddNode("a", '1');
  AddNode("b", '1');
  AddNode("c", '1');
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "a:0 b:0");
  See("a", '2');
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(5000);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_THAT(cluster_.Placement(job), AllOf(HasSubstr("b:0"), HasSubstr("c:0")));
}

// A controller that has just started does not know which directories its nodes see. The gang must
// wait for the nodes' reports, but not forever.
TEST_F(RootSightingsTest, AGangWaitsForTheFirstReportOfANodeAndNotForEver) {
  AddNode("a", '1');
  AddNode("b", ' ');
  v1::Hello hello = cluster_.HelloOf("b");
  hello.mutable_checkpoint_root();
  NoteRoot("b", hello, cluster_.now, Roots());
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.Pass(kFirstRootReportMs - 1000);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job).answer(), HasSubstr("b has not reported a directory yet"));
  cluster_.Pass(2000);
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0");
}

TEST_F(RootSightingsTest, AReportWithHelloIsEnough) {
  AddNode("a", '1');
  AddNode("b", ' ');
  v1::Hello hello = cluster_.HelloOf("b");
  hello.mutable_checkpoint_root()->set_path("/checkpoints");
  hello.mutable_checkpoint_root()->set_nonce(std::string(32, '2'));
  NoteRoot("b", hello, cluster_.now, Roots());
  EXPECT_THAT(Roots().awaited, IsEmpty());
  EXPECT_THAT(Roots().nodes_by_nonce, testing::SizeIs(2));
  hello.clear_checkpoint_root();
  NoteRoot("b", hello, cluster_.now, Roots());
  EXPECT_THAT(Roots().nodes_by_nonce, testing::SizeIs(1)) << "a worker of an older release";
}

TEST_F(RootSightingsTest, ReportsOfAnotherRootAreIgnored) {
  AddNode("a", '1');
  v1::Heartbeat heartbeat;
  heartbeat.mutable_checkpoint_root()->set_path("/elsewhere");
  heartbeat.mutable_checkpoint_root()->set_nonce(std::string(32, '2'));
  NoteRoot("a", heartbeat, cluster_.now, Roots());
  EXPECT_EQ(Roots().by_node.at("a").nonce(), std::string(32, '1'));
}

TEST_F(RootSightingsTest, DoctorIsRedForTheNodeThatSeesAnotherDirectory) {
  AddNode("a", '1');
  AddNode("b", '2');
  AddNode("c", '1');
  EXPECT_TRUE(Check("a").ok());
  EXPECT_EQ(Check("a").found(), "/checkpoints: the same directory on 2 nodes");
  EXPECT_FALSE(Check("b").ok());
  EXPECT_THAT(Check("b").found(), HasSubstr("a and c share one directory at /checkpoints, b sees "
                                            "another directory"));
  EXPECT_THAT(Check("b").advice(), HasSubstr("mount the same storage"));
  SeeNone("b");
  EXPECT_FALSE(Check("b").ok());
  EXPECT_EQ(Check("b").found(), "/checkpoints: the directory has not answered for 10 s");
  cluster_.observations.nodes.at("b").checked_ms = cluster_.now;
  const v1::NodeChecks checks =
      ChecksOf(cluster_.state, cluster_.state.nodes.at("b"), cluster_.observations);
  EXPECT_EQ(checks.checks(checks.checks_size() - 1).name(), "shared checkpoints");
}

TEST_F(RootSightingsTest, OfTwoDirectoriesTheControllersOwnIsMeant) {
  AddNode("a", '1');
  AddNode("b", '2');
  EXPECT_FALSE(Check("a").ok()) << "nobody knows which one is meant";
  EXPECT_FALSE(Check("b").ok());
  Roots().controllers_nonce = std::string(32, '2');
  EXPECT_FALSE(Check("a").ok());
  EXPECT_TRUE(Check("b").ok());
}

TEST_F(RootSightingsTest, OneRootThatNobodyElseSeesIsFine) {
  AddNode("a", '1');
  EXPECT_TRUE(Check("a").ok());
  EXPECT_EQ(RootDifferences(cluster_.state, Roots()), "");
  EXPECT_EQ(Plan(TestSpec("job", 1, 1)).pending().advice(), "");
}

TEST_F(RootSightingsTest, LostNodesAreNotNamed) {
  AddNode("a", '1');
  AddNode("b", '2');
  cluster_.StopHeartbeats("b");
  cluster_.Pass(20'000);
  ASSERT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_LOST);
  EXPECT_EQ(RootDifferences(cluster_.state, Roots()), "");
  ForgetRoot("b", Roots());
  EXPECT_THAT(Roots().nodes_by_nonce, testing::SizeIs(1));
  EXPECT_TRUE(Check("a").ok());
}

TEST_F(RootSightingsTest, ManyNodesAreCounted) {
  for (const char id : std::string("abcdefg")) AddNode(std::string(1, id), '1');
  AddNode("x", '2');
  EXPECT_EQ(
      RootDifferences(cluster_.state, Roots()),
      "a, b, c, d and 3 more nodes share one directory at /checkpoints, x sees another directory");
}

TEST_F(RootSightingsTest, BarredNodesAreThoseOutsideOfEachDirectory) {
  AddNode("a", '1');
  AddNode("b", '2');
  AddNode("c", '2');
  AddNode("d", ' ');
  SeeNone("d");
  const auto sets = NodesOutsideOfRoots(Roots());
  EXPECT_THAT(sets, ElementsAre(ElementsAre("a", "d"), ElementsAre("b", "c", "d")));
  EXPECT_THAT(sets[0], Not(testing::Contains("b")));
}

TEST_F(RootSightingsTest, WhereNoNodeSeesADirectoryAllAreBarred) {
  AddNode("a", ' ');
  AddNode("b", ' ');
  SeeNone("a");
  SeeNone("b");
  EXPECT_THAT(NodesOutsideOfRoots(Roots()), ElementsAre(ElementsAre("a", "b")));
}

TEST_F(RootSightingsTest, UpToFiveNodesAreNamedInTheOrderOfTheirNames) {
  for (const char id : std::string("abcde")) AddNode(std::string(1, id), '1');
  AddNode("x", '2');
  cluster_.state.nodes.at("a").node.set_name("z");
  EXPECT_EQ(RootDifferences(cluster_.state, Roots()),
            "b, c, d, e and z share one directory at /checkpoints, x sees another directory");
}

TEST_F(RootSightingsTest, UpToFiveNodesWithoutADirectoryAreNamed) {
  std::string named;
  const auto add = [&](const std::string& id) {
    AddNode(id, ' ');
    SeeNone(id);
  };
  for (const std::string id : {"a", "b", "c", "d", "e"}) {
    add(id);
    named += (named.empty() ? "" : ", ") + id +
             " sees no directory at /checkpoints: the directory has not answered for 10 s";
  }
  EXPECT_EQ(RootDifferences(cluster_.state, Roots()), named);
  for (const char* id : {"f", "g"}) add(id);
  EXPECT_EQ(RootDifferences(cluster_.state, Roots()),
            named + ", 2 other nodes see no directory at that path");
}

TEST_F(RootSightingsTest, NodesThatShareTheRootNeedNoChoice) {
  AddNode("a", '1');
  AddNode("b", '1');
  EXPECT_FALSE(NeedsSharedRoot(TestSpec("job", 2, 1), 2, Roots()));
  AddNode("c", '2');
  EXPECT_TRUE(NeedsSharedRoot(TestSpec("job", 2, 1), 2, Roots()));
}

TEST_F(RootSightingsTest, TheFirstReportIsAwaitedUpToItsDeadlineOrAStepOfTheClock) {
  const Timestamp attached_ms = cluster_.now;
  const auto is_awaited_at = [&](Timestamp now) {
    v1::Hello hello;
    hello.mutable_checkpoint_root();
    NoteRoot("a", hello, attached_ms, Roots());
    NoteRoot("a", v1::Heartbeat(), now, Roots());
    return Roots().awaited.contains("a");
  };
  EXPECT_FALSE(is_awaited_at(attached_ms - 1)) << "the clock was set back";
  EXPECT_TRUE(is_awaited_at(attached_ms));
  EXPECT_TRUE(is_awaited_at(attached_ms + kFirstRootReportMs - 1));
  EXPECT_FALSE(is_awaited_at(attached_ms + kFirstRootReportMs));
}

TEST_F(RootSightingsTest, AWorkerOfAnOlderReleaseIsNotAwaited) {
  AddNode("a", '1');
  v1::Hello hello;
  hello.mutable_checkpoint_root();
  NoteRoot("b", hello, cluster_.now, Roots());
  ASSERT_TRUE(Roots().awaited.contains("b"));
  for (const char* id : {"a", "b"}) NoteRoot(id, v1::Hello(), cluster_.now, Roots());
  EXPECT_THAT(Roots().awaited, IsEmpty());
  EXPECT_THAT(Roots().by_node, IsEmpty());
  EXPECT_THAT(Roots().nodes_by_nonce, IsEmpty());
}

TEST_F(RootSightingsTest, OnlyAJobOfOneNodeThatSavesInTheRootIsWarned) {
  AddNode("a", '1');
  AddNode("b", '2');
  const auto warning = [&](const v1::JobSpec& spec) {
    return RootWarning(cluster_.state, spec, Roots());
  };
  EXPECT_EQ(warning(TestSpec("job", 1, 1)),
            "a later attempt on another node may not find the job's checkpoints, because a sees "
            "one directory at /checkpoints, b sees another directory; " +
                RootAdvice(Roots()));
  EXPECT_EQ(warning(TestSpec("job", 2, 1)), "");
  EXPECT_EQ(warning(SparesSpec("job", 1, 1, 1)), "");
  EXPECT_EQ(warning(SparesSpec("job", 2, 1, 1)), "");
  v1::JobSpec evaluation = TestSpec("job", 1, 1);
  evaluation.mutable_evaluation()->set_only(true);
  EXPECT_EQ(warning(evaluation), "");
}

}  // namespace
}  // namespace trainyard::controller
