#include "controller/core/decide/decide.h"

#include "controller/core/decide/references.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/state/jobs/origin_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::SubmitJobRequest RequestOf(const v1::JobSpec& spec) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  return request;
}

JobSubmission Submission(const v1::JobSpec& spec) { return Checked(RequestOf(spec)); }

StopJob StopOf(const std::string& job, bool kill = false) {
  StopJob stop;
  stop.request.set_job(job);
  stop.request.set_kill(kill);
  return stop;
}

TEST(DecideTest, SubmitGivesNumberDefaultsAndCheckpointDirectory) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("first", 1, 1);
  EXPECT_EQ(job, 1);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster.Job(job).spec().checkpoint().dir(), "/checkpoints/1-first");
  EXPECT_EQ(cluster.Job(job).spec().restart().window().seconds(), 86400);
  v1::Job shown;
  UnpackOrigins(cluster.state.jobs.at(job).origin_list, shown);
  const auto& origins = shown.origins();
  const auto dir = std::ranges::find_if(
      origins, [](const v1::Origin& origin) { return origin.key() == "checkpoint.dir"; });
  ASSERT_NE(dir, origins.end());
  EXPECT_EQ(dir->source(), "derived");
}

TEST(DecideTest, SubmitRefusesNameOfLiveJobOnly) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("twin", 1, 1);
  const absl::Status status = cluster.Try(Submission(TestSpec("twin", 1, 1)));
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr("job 1"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("trainyard stop 1"));
  cluster.Stop(job);
  EXPECT_EQ(cluster.Submit("twin", 1, 1), 2);
  EXPECT_EQ(*FindJob(cluster.state, "twin"), 2);
}

TEST(DecideTest, SubmitRefusesCheckpointDirectoryOfLiveJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("first", 1, 1);
  spec.mutable_checkpoint()->set_dir("/data/run");
  const int64_t job = cluster.Submit(spec);
  spec.set_name("second");
  for (const char* same : {"/data/run", "/data/run/", "//data/./run", "/data/x/../run"}) {
    spec.mutable_checkpoint()->set_dir(same);
    const absl::Status status = cluster.Try(Submission(spec));
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << same;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("job 1 (first), which is queued"), HasSubstr("trainyard stop 1")));
  }
  spec.mutable_checkpoint()->set_dir("/data/run/deeper");
  EXPECT_TRUE(cluster.Try(Submission(spec)).ok());

  EXPECT_EQ(DifferentIndexes(cluster.state, FromSnapshot(ToSnapshot(cluster.state, 0))), "");
  cluster.Stop(job);
  EXPECT_EQ(DifferentIndexes(cluster.state, FromSnapshot(ToSnapshot(cluster.state, 0))), "");
  spec.set_name("heir");
  spec.mutable_checkpoint()->set_dir("/data/run");
  EXPECT_TRUE(cluster.Try(Submission(spec)).ok());
}

// Another job may have set this directory explicitly.
TEST(DecideTest, SubmitRefusesDerivedCheckpointDirectoryOfLiveJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("squatter", 1, 1);
  spec.mutable_checkpoint()->set_dir("/checkpoints/2-second");
  cluster.Submit(spec);
  EXPECT_EQ(cluster.Try(Submission(TestSpec("second", 1, 1))).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(DecideTest, RepeatedSubmitMakesNoSecondJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::SubmitJobRequest request = RequestOf(TestSpec("once", 1, 1));
  request.set_request_id("r-1");
  const JobSubmission submit = Checked(request);
  EXPECT_EQ(cluster.Do(submit).size(), 1u);
  EXPECT_THAT(cluster.Do(submit), IsEmpty());
  EXPECT_EQ(FindJobByRequestId(cluster.state, "r-1"), 1);
  EXPECT_EQ(FindJobByRequestId(cluster.state, "r-2"), std::nullopt);
  EXPECT_EQ(FindJobByRequestId(cluster.state, ""), std::nullopt);
}

TEST(DecideTest, SubmitNamesLargestShapeThatFits) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 4);
  cluster.AddNode("c", 2);
  const absl::Status status = cluster.Try(Submission(TestSpec("big", 3, 4)));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("needs 3 nodes with 4 cpu slots each"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is 2 nodes with 4 cpu slots each"));
  EXPECT_TRUE(cluster.Try(Submission(TestSpec("fits", 3, 2))).ok());
}

TEST(DecideTest, SubmitRefusesAQueueThatRunsAway) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  for (std::size_t i = 1; i < kMaxOpenJobs; ++i) {
    cluster.state.pending_jobs.Insert({1'000'000 + static_cast<int64_t>(i)});
  }
  EXPECT_TRUE(Admit(cluster.state, TestSpec("last", 1, 1)).ok());
  cluster.state.pending_jobs.Insert({1'000'000});
  const absl::Status status = cluster.Try(Submission(TestSpec("one-more", 1, 1)));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("100000 jobs have not ended"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("trainyard stop"));
}

TEST(DecideTest, SubmitSaysThatNoWorkerIsAttached) {
  TestCluster cluster;
  const absl::Status status = cluster.Try(Submission(TestSpec("early", 1, 1)));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no worker is attached"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("trainyard-worker --controller"));
}

TEST(DecideTest, SubmitSaysThatOnlyTheOtherKindExists) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  v1::JobSpec spec = TestSpec("gpus", 1, 1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  const absl::Status status = cluster.Try(Submission(spec));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no gpu slots"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("resources.device to cpu"));
}

TEST(DecideTest, SubmitSaysThatThereAreOnlyGpusOrNoSlotsAtAll) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::Hello hello = cluster.HelloOf("a");
  hello.mutable_inventory()->mutable_slots(0)->set_kind(v1::DEVICE_KIND_GPU);
  cluster.Do(AttachWorker{hello});
  EXPECT_THAT(
      std::string(cluster.Try(Submission(TestSpec("cpus", 1, 1))).message()),
      HasSubstr(
          "no cpu slots; the cluster has 1 node with 1 gpu slot; set resources.device to gpu"));
  hello.mutable_inventory()->clear_slots();
  cluster.Do(AttachWorker{hello});
  EXPECT_THAT(std::string(cluster.Try(Submission(TestSpec("cpus", 1, 1))).message()),
              HasSubstr("no cpu slots; attach workers with such slots"));
}

TEST(DecideTest, OfLargestShapesTheOneWithFewerNodesIsNamed) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 2);
  const auto largest = LargestShape(cluster.state, v1::DEVICE_KIND_CPU);
  ASSERT_TRUE(largest.has_value());
  EXPECT_EQ(largest->nodes, 1);
  EXPECT_EQ(largest->slots_per_node, 4);
  EXPECT_FALSE(LargestShape(cluster.state, v1::DEVICE_KIND_GPU).has_value());
}

TEST(DecideTest, LostNodesDoNotCountForAdmission) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  cluster.StopHeartbeats("b");
  cluster.Pass(9000);
  ASSERT_EQ(cluster.NodeStateOf("b"), v1::NODE_STATE_LOST);
  EXPECT_EQ(cluster.Try(Submission(TestSpec("two", 2, 1))).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(DecideTest, StopEndsQueuedJobAtOnce) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("queued", 1, 1);
  cluster.Stop(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster.Job(job).verdict().cause(), v1::VERDICT_CAUSE_STOPPED);
  EXPECT_EQ(cluster.Try(StopOf("queued")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cluster.Try(StopOf("99")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cluster.Try(StopOf("")).code(), absl::StatusCode::kInvalidArgument);
}

TEST(DecideTest, AnEventOfAUserSaysWhoAndWhen) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const std::vector<v1::Event> submitted = cluster.Do(Submission(TestSpec("job", 1, 1)));
  ASSERT_EQ(submitted.size(), 1u);
  EXPECT_EQ(submitted[0].actor(), "user ada");
  EXPECT_EQ(submitted[0].time_ms(), cluster.now);
  StopJob kill = StopOf("job", true);
  kill.principal = {"eve"};
  const std::vector<v1::Event> ended = cluster.Do(kill);
  ASSERT_THAT(Kinds(ended), ElementsAre("JobEnded"));
  EXPECT_EQ(ended[0].actor(), "user eve");
  EXPECT_EQ(ended[0].time_ms(), cluster.now);
  const v1::Verdict& verdict = ended[0].job_ended().verdict();
  EXPECT_EQ(verdict.summary(), "killed by a user");
  EXPECT_EQ(verdict.rank(), -1);
  EXPECT_EQ(verdict.time_ms(), cluster.now);
}

TEST(DecideTest, KillFollowsStopAndRepeatsChangeNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("live", 1, 1);
  cluster.RunJob(job);
  EXPECT_THAT(Kinds(cluster.Do(StopOf("1"))), ElementsAre("JobStopRequested"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPING);
  EXPECT_THAT(cluster.Do(StopOf("1")), IsEmpty());
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 60000"));
  EXPECT_THAT(Kinds(cluster.Do(StopOf("1", true))), ElementsAre("JobStopRequested"));
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 0"));
  EXPECT_THAT(cluster.Do(StopOf("1")), IsEmpty());
}

TEST(DecideTest, StopComesTooLateForFinishedJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("done", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  EXPECT_THAT(cluster.Do(StopOf("done")), IsEmpty());
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

TEST(DecideTest, FindsJobsByNumberNameAndLast) {
  TestCluster cluster;
  EXPECT_EQ(FindJob(cluster.state, "@last").status().code(), absl::StatusCode::kNotFound);
  cluster.AddNode("a", 1);
  cluster.Submit("one", 1, 1);
  cluster.Submit("two", 1, 1);
  EXPECT_EQ(*FindJob(cluster.state, "1"), 1);
  EXPECT_EQ(*FindJob(cluster.state, "two"), 2);
  EXPECT_EQ(*FindJob(cluster.state, "@last"), 2);
  EXPECT_EQ(FindJob(cluster.state, "99999999999999999999").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FindJob(cluster.state, "3").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindJob(cluster.state, std::string(256, 'x')).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FindJob(cluster.state, std::string(257, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DecideTest, ASubmissionKeepsWhetherItsUserIsVerified) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  for (const bool is_verified : {true, false}) {
    const v1::SubmitJobRequest request = RequestOf(TestSpec(is_verified ? "one" : "two", 1, 1));
    const Principal user{"ada", is_verified ? Verification::kSession : Verification::kClaim};
    const std::vector<v1::Event> events = cluster.Do(Checked(request, user));
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].actor_verified(), is_verified);
  }
}

TEST(DecideTest, AReleaseEndsQuarantineAndFailedStartsAtOnce) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::NodeHealth& health = *cluster.state.nodes.at("a").node.mutable_health();
  health.set_failed_starts(1);
  health.mutable_quarantine()->set_since_ms(cluster.now);
  ReleaseNode release;
  release.request.set_node("a");
  release.principal = {"ann"};
  const auto events = Decide(cluster.state, release, cluster.options, cluster.now);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_THAT(Kinds(*events), ElementsAre("NodeReleased", "NodeHealthy"));
  for (const v1::Event& event : *events) EXPECT_EQ(event.actor(), "user ann");
}

TEST(DecideTest, AChosenLayoutIsAnEventOfTheController) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit(AutoSpec("job", 1, 1));
  v1::GrantedLayout layout;
  layout.set_asked_nodes(1);
  layout.set_problem("no layout fits");
  const std::vector<v1::Event> events = cluster.Do(ChooseLayout{job, layout});
  ASSERT_THAT(Kinds(events), ElementsAre("LayoutChosen"));
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  EXPECT_EQ(events[0].actor(), "controller");
  EXPECT_EQ(events[0].layout_chosen().job_id(), job);
  EXPECT_EQ(events[0].layout_chosen().layout().problem(), "no layout fits");
}

TEST(DecideTest, AnUnknownNumberIsNotCalledArchived) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("one", 1, 1);
  EXPECT_EQ(FindJob(cluster.state, "2").status().message(),
            "there is no job `2`; `trainyard ps --all` lists the jobs");
}

}  // namespace
}  // namespace trainyard::controller
