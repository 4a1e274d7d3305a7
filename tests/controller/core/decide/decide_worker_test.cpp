#include "controller/core/decide/decide_worker.h"

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::Fact ClearedFact(uint64_t sequence, int64_t job_id, int64_t attempt_number) {
  v1::Fact fact;
  fact.set_sequence(sequence);
  fact.mutable_attempt_cleared()->set_job_id(job_id);
  fact.mutable_attempt_cleared()->set_attempt(attempt_number);
  return fact;
}

TEST(DecideWorkerTest, AttachIsAnEventOnlyWhenItIsNews) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::Hello hello = cluster.HelloOf("a");
  EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
  hello.set_incarnation("2");
  const std::vector<v1::Event> events = cluster.Do(AttachWorker{hello});
  ASSERT_THAT(Kinds(events), ElementsAre("NodeJoined"));
  EXPECT_EQ(events[0].node_joined().node().state(), v1::NODE_STATE_READY);
  hello.mutable_inventory()->mutable_slots()->RemoveLast();
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})), ElementsAre("NodeJoined"));
  EXPECT_EQ(cluster.state.nodes.at("a").node.slot_uses_size(), 1);
}

TEST(DecideWorkerTest, AttachRefusesNonsense) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::Hello nameless = cluster.HelloOf("a");
  nameless.clear_node_id();
  EXPECT_EQ(cluster.Try(AttachWorker{nameless}).code(), absl::StatusCode::kInvalidArgument);
  v1::Hello twice = cluster.HelloOf("a");
  twice.mutable_inventory()->mutable_slots(1)->set_index(0);
  EXPECT_EQ(cluster.Try(AttachWorker{twice}).code(), absl::StatusCode::kInvalidArgument);
  v1::Hello kindless = cluster.HelloOf("a");
  kindless.mutable_inventory()->mutable_slots(0)->clear_kind();
  EXPECT_EQ(cluster.Try(AttachWorker{kindless}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(DecideWorkerTest, EachPartOfAHelloIsNeededAndIsNewsWhenItChanges) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  using Edit = void (*)(v1::Hello&);
  for (const Edit edit :
       {Edit([](v1::Hello& hello) { hello.clear_node_name(); }),
        Edit([](v1::Hello& hello) { hello.clear_incarnation(); }),
        Edit([](v1::Hello& hello) { hello.clear_address(); }), Edit([](v1::Hello& hello) {
          hello.mutable_inventory()->mutable_slots(0)->set_index(-1);
        })}) {
    v1::Hello broken = cluster.HelloOf("a");
    edit(broken);
    EXPECT_EQ(cluster.Try(AttachWorker{broken}).code(), absl::StatusCode::kInvalidArgument);
  }
  v1::Hello hello = cluster.HelloOf("a");
  for (const Edit edit : {Edit([](v1::Hello& news) { news.set_node_name("other"); }),
                          Edit([](v1::Hello& news) { news.set_address("10.9.9.9"); }),
                          Edit([](v1::Hello& news) { news.set_worker_version("2.0"); })}) {
    edit(hello);
    const std::vector<v1::Event> events = cluster.Do(AttachWorker{hello});
    ASSERT_THAT(Kinds(events), ElementsAre("NodeJoined"));
    EXPECT_EQ(events[0].actor(), "node other");
    EXPECT_EQ(events[0].time_ms(), cluster.now);
    EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
  }
  const v1::Node& node = cluster.state.nodes.at("a").node;
  EXPECT_EQ(node.address(), "10.9.9.9");
  EXPECT_EQ(node.worker_version(), "2.0");
  EXPECT_EQ(node.incarnation(), "1");
}

TEST(DecideWorkerTest, AttachKeepsWhatRunsOnTheSlots) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_incarnation("2");
  *hello.add_attempts() = cluster.Report("a", job);
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})), ElementsAre("NodeJoined"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster.state.nodes.at("a").node.slot_uses(1).job_id(), job);
  EXPECT_TRUE(cluster.state.free_nodes[v1::DEVICE_KIND_CPU].empty());
}

TEST(DecideWorkerTest, AttemptThatItsNodeIsRidOfUnrunFailsAndIsTriedAgain) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Settle();
  ASSERT_EQ(cluster.Attempt(job).state(), v1::ATTEMPT_STATE_STARTING);
  // The worker has run and forgotten this attempt. The controller, restored from a backup, does not
  // know that.
  const auto events = cluster.Do(ReceiveFact{"a", ClearedFact(1, job, 1)});
  EXPECT_THAT(Kinds(events), ElementsAre("AttemptCleared", "AttemptFailed", "FactsReceived"));
  EXPECT_EQ(cluster.Attempt(job).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_TRUE(cluster.Attempt(job).verdict().restartable());
  EXPECT_THAT(cluster.Commands(), IsEmpty()) << "the node is asked again";
  cluster.Pass(2000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_THAT(cluster.Commands(), ElementsAre("start a 1/2"));
}

// A fact about a launcher counts for each of its ranks, but not for ranks of other nodes.
TEST(DecideWorkerTest, AFactAboutALauncherConcernsAllOfItsRanks) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  v1::JobSpec spec = TestSpec("job", 2, 2);
  spec.mutable_launch()->set_processes_per_node(1);
  const int64_t job = cluster.Submit(spec);
  cluster.Settle();
  v1::Fact started = ClearedFact(1, job, 1);
  started.mutable_rank_started()->set_job_id(job);
  started.mutable_rank_started()->set_attempt(1);
  started.mutable_rank_started()->set_rank(2);
  for (const int rank : {3, 0, 99}) started.mutable_rank_started()->add_further_ranks(rank);
  const auto events = cluster.Do(ReceiveFact{"b", started});
  ASSERT_THAT(Kinds(events), ElementsAre("RankStarted", "RankStarted", "FactsReceived"));
  EXPECT_THAT(events[1].rank_started().further_ranks(), IsEmpty());
  EXPECT_THAT(cluster.state.jobs.at(job).started_ranks, ElementsAre(2, 3));
  cluster.StartRank(job, 0);
  cluster.StartRank(job, 1);
  cluster.Settle();
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);

  v1::Fact exited;
  exited.set_sequence(2);
  v1::RankExited& exit = *exited.mutable_rank_exited();
  exit.set_job_id(job);
  exit.set_attempt(1);
  exit.set_rank(2);
  exit.add_further_ranks(3);
  exit.set_exit_code(1);
  exit.set_log_tail("ValueError: boom");
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"b", exited})),
              ElementsAre("RankExited", "RankExited", "FactsReceived"));
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(job).verdict().rank(), 2) << "the first rank of the process";
  EXPECT_THAT(cluster.Attempt(job).verdict().summary(), HasSubstr("ValueError: boom"));
  EXPECT_THAT(cluster.state.jobs.at(job).exited_ranks, testing::SizeIs(2));
}

TEST(DecideWorkerTest, ClearedAfterItsRanksHaveEndedIsNoFailure) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

// Restores a backup, after which jobs 1 to 100 may have been submitted.
void RestoreBackup(TestCluster& cluster) {
  v1::Event restored;
  restored.mutable_store_restored()->set_skipped_job_ids(100);
  Apply(restored, cluster.state);
}

TEST(DecideWorkerTest, NodeThatRunsAJobFromAfterTheBackupGetsNothingElse) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  RestoreBackup(cluster);
  v1::Hello hello = cluster.HelloOf("a");
  v1::AttemptReport& report = *hello.add_attempts();
  report.set_job_id(7);
  report.set_attempt(1);
  const std::vector<v1::Event> events = cluster.Do(AttachWorker{hello});
  ASSERT_THAT(Kinds(events), ElementsAre("NodeCordoned"));
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  EXPECT_EQ(events[0].actor(), "controller");
  EXPECT_THAT(cluster.state.nodes.at("a").node.cordon_reason(),
              testing::AllOf(HasSubstr("job 7"), HasSubstr("trainyard node uncordon a")));
  EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
  const int64_t job = cluster.Submit("job", 1, 1);
  EXPECT_EQ(job, 101);
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_QUEUED);
}

TEST(DecideWorkerTest, WhatHasEndedCordonsNothingAndNeitherDoesAJobOfNobody) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  RestoreBackup(cluster);
  v1::Hello hello = cluster.HelloOf("a");
  v1::AttemptReport& report = *hello.add_attempts();
  report.set_job_id(7);
  report.set_attempt(1);
  report.set_cleared(true);
  EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
  report.set_cleared(false);
  report.set_job_id(101);
  EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
}

TEST(DecideWorkerTest, WorkerWithoutTheDataOfItsRanksFailsTheAttempt) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_incarnation("2");
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})),
              ElementsAre("NodeJoined", "AttemptFailed", "NodeBlamed"));
  EXPECT_EQ(cluster.Attempt(job).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_THAT(cluster.Attempt(job).verdict().summary(), HasSubstr("without the attempt's data"));
}

TEST(DecideWorkerTest, AnOlderAttemptIsNoDataOfTheNewest) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1500);
  cluster.StartAll(job);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_incarnation("2");
  v1::AttemptReport& older = *hello.add_attempts();
  older.set_job_id(job);
  older.set_attempt(1);
  older.set_cleared(true);
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})), Contains("AttemptFailed"));
}

TEST(DecideWorkerTest, NewNodeInThePlaceOfAnotherShowsThatTheOtherIsGone) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  for (const std::string id : {"a", "b"}) {
    v1::Hello hello = cluster.HelloOf(id);
    hello.set_place("place of " + id);
    EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})), ElementsAre("NodeJoined"));
    EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
  }
  const int64_t on_a = cluster.Submit("on-a", 1, 1);
  const int64_t on_b = cluster.Submit("on-b", 1, 1);
  cluster.RunJob(on_a);
  cluster.RunJob(on_b);
  ASSERT_EQ(cluster.Placement(on_a), "a:0");
  cluster.StopHeartbeats("a");
  EXPECT_EQ(Bytes(FromSnapshot(ToSnapshot(cluster.state, 1))), Bytes(cluster.state));

  v1::Hello elsewhere = cluster.HelloOf("a");
  elsewhere.set_node_id("c");
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{elsewhere})), ElementsAre("NodeJoined"));
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_node_id("d");
  hello.set_place("place of a");
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})),
              ElementsAre("NodeJoined", "AttemptFailed", "NodeLost"));
  EXPECT_EQ(cluster.Attempt(on_a).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_THAT(cluster.Attempt(on_a).verdict().summary(), HasSubstr("new node d"));
  EXPECT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_LOST);
  EXPECT_EQ(cluster.StateOf(on_b), v1::JOB_STATE_RUNNING);
  EXPECT_THAT(cluster.Do(AttachWorker{hello}), IsEmpty());
}

TEST(DecideWorkerTest, RanksThatHadEndedWellAreNotLostWithTheirNode) {
  for (const bool is_same_node : {true, false}) {
    TestCluster cluster;
    cluster.AddNode("a", 1);
    v1::Hello hello = cluster.HelloOf("a");
    hello.set_place("place");
    cluster.Do(AttachWorker{hello});
    const int64_t job = cluster.Submit("job", 1, 1);
    cluster.RunJob(job);
    cluster.ExitAll(job, 0);
    hello.set_incarnation("2");
    if (!is_same_node) hello.set_node_id("b");
    EXPECT_THAT(Kinds(cluster.Do(AttachWorker{hello})), Not(Contains("AttemptFailed")));
  }
}

TEST(DecideWorkerTest, FactsCountUpWithoutHoles) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  EXPECT_EQ(cluster.Try(ReceiveFact{"a", ClearedFact(2, 9, 1)}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(cluster.Try(ReceiveFact{"a", ClearedFact(0, 9, 1)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cluster.Try(ReceiveFact{"z", ClearedFact(1, 9, 1)}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"a", ClearedFact(1, 9, 1)})),
              ElementsAre("FactsReceived"));
  EXPECT_THAT(cluster.Do(ReceiveFact{"a", ClearedFact(1, 9, 1)}), IsEmpty());
  EXPECT_EQ(cluster.state.nodes.at("a").fact_sequence, 1u);
  const absl::Status gap = cluster.Try(ReceiveFact{"a", ClearedFact(3, 9, 1)});
  EXPECT_EQ(gap.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(gap.message(), "fact 3 of node a arrived, but fact 2 was expected");
  v1::Fact empty;
  empty.set_sequence(2);
  EXPECT_EQ(cluster.Try(ReceiveFact{"a", empty}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cluster.Try(ReceiveFact{"a", ClearedFact(0, 9, 1)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cluster.Try(ReceiveFact{"x", ClearedFact(1, 9, 1)}).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(DecideWorkerTest, FactsOfUnknownAttemptsAreReceivedAndChangeNoJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0");
  v1::Fact exited;
  exited.set_sequence(1);
  exited.mutable_rank_exited()->set_job_id(job);
  exited.mutable_rank_exited()->set_attempt(1);
  exited.mutable_rank_exited()->set_exit_code(1);
  // Node b runs no rank of the job.
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"b", exited})), ElementsAre("FactsReceived"));
  uint64_t sequence = 2;
  for (const int rank : {7, 1, -1}) {
    exited.mutable_rank_exited()->set_rank(rank);
    exited.set_sequence(sequence++);
    EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"a", exited})), ElementsAre("FactsReceived"));
  }
  EXPECT_THAT(cluster.Settle(), IsEmpty());
}

TEST(DecideWorkerTest, LateFactsOfAnOlderAttemptChangeNoJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1500);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"a", ClearedFact(4, job, 1)})),
              ElementsAre("FactsReceived"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STARTING);
  v1::Fact started;
  started.set_sequence(5);
  started.mutable_rank_started()->set_job_id(job);
  started.mutable_rank_started()->set_attempt(1);
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"a", started})), ElementsAre("FactsReceived"));
  started.set_sequence(6);
  started.mutable_rank_started()->set_job_id(99);
  EXPECT_THAT(Kinds(cluster.Do(ReceiveFact{"a", started})), ElementsAre("FactsReceived"));
}

}  // namespace
}  // namespace trainyard::controller
