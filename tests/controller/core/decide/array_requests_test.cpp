#include "controller/core/decide/array_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/state/jobs/array_elements.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ArrayRequestsTest : public testing::Test {
 protected:
  ArrayRequestsTest() {
    cluster_.AddNode("a", 2);
    array_ = cluster_.Submit(NamedArray("sweep", "1..10"));
    cluster_.Settle();
    running_ = *LiveElements(cluster_.state, array_).begin();
    waiting_ = *LiveElements(cluster_.state, array_).rbegin();
  }

  static v1::JobSpec NamedArray(const std::string& name, const std::string& values) {
    v1::JobSpec spec = TestSpec(name, 1, 1);
    (*spec.mutable_matrix())["env.SEED"] = values;
    return spec;
  }

  void Leave() {
    for (const int64_t id : std::set<int64_t>(LiveElements(cluster_.state, array_))) {
      if (cluster_.Job(id).attempts().empty()) continue;
      cluster_.ExitAll(id, 143);
      cluster_.ClearAll(id);
    }
    cluster_.Settle();
  }

  absl::Status TrySubmit(const v1::JobSpec& spec) const {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = spec;
    return cluster_.Try(Checked(request));
  }

  template <class Command>
  Command OfArray() const {
    Command command;
    command.request.set_job("sweep");
    command.principal = {"ada"};
    return command;
  }

  std::string Why() const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(array_)).message();
  }

  TestCluster cluster_;
  int64_t array_ = 0;
  int64_t running_ = 0;
  int64_t waiting_ = 0;
};

TEST_F(ArrayRequestsTest, AStopEndsTheElementsAndThenTheArray) {
  cluster_.StartAll(running_);
  cluster_.Stop(array_);
  EXPECT_EQ(cluster_.StateOf(waiting_), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_STOPPING);
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(), HasSubstr("being stopped"));
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  // A repeated request changes nothing.
  const std::string before = Bytes(cluster_.state);
  EXPECT_THAT(cluster_.Do(StopJob{OfArray<StopJob>().request, {"ada"}}), IsEmpty());
  EXPECT_EQ(Bytes(cluster_.state), before);
  Leave();
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(LiveElements(cluster_.state, array_), IsEmpty());
  EXPECT_EQ(cluster_.Job(array_).array().created(), 4);
}

TEST_F(ArrayRequestsTest, APausedArrayStartsNoFurtherElement) {
  cluster_.StartAll(running_);
  cluster_.Do(OfArray<PauseJob>());
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_HELD);
  EXPECT_EQ(cluster_.StateOf(waiting_), v1::JOB_STATE_HELD);
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSING);
  Leave();
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(cluster_.Job(array_).array().created(), 4);
  cluster_.Do(OfArray<ResumeJob>());
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_STARTING);
}

TEST_F(ArrayRequestsTest, AHeldArrayCanBeStopped) {
  cluster_.StartAll(running_);
  cluster_.Do(OfArray<PauseJob>());
  cluster_.Stop(array_, /*kill=*/true);
  Leave();
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_STOPPED);
}

TEST_F(ArrayRequestsTest, APriorityAppliesToElementsOfNowAndLater) {
  auto move = OfArray<MoveInQueue>();
  move.request.set_priority(7);
  cluster_.Do(move);
  EXPECT_EQ(cluster_.Job(array_).priority(), 7);
  EXPECT_EQ(cluster_.Job(waiting_).priority(), 7);
  for (int64_t job = running_; job <= waiting_; ++job) {
    cluster_.StartAll(job);
    cluster_.ExitAll(job, 0);
    cluster_.ClearAll(job);
  }
  const int64_t next = *LiveElements(cluster_.state, array_).rbegin();
  EXPECT_NE(next, waiting_);
  EXPECT_EQ(cluster_.Job(next).priority(), 7);
}

TEST_F(ArrayRequestsTest, LeftOutCombinationsBecomeNoJobs) {
  TestCluster cluster;
  cluster.AddNode("a", 9);
  v1::JobSpec spec = NamedArray("small", "1..4");
  (*spec.mutable_matrix())["exclude"] = R"([{"env.SEED": "2"}, {"env.SEED": "4"}])";
  const int64_t array = cluster.Submit(spec);
  cluster.Settle();
  EXPECT_EQ(cluster.Job(array).array().elements(), 2);
  std::vector<std::string> seeds;
  for (const int64_t id : LiveElements(cluster.state, array)) {
    seeds.push_back(cluster.Job(id).name() + " " + cluster.Job(id).spec().env().at("SEED"));
  }
  EXPECT_THAT(seeds, ElementsAre("small.0 1", "small.1 3"));
}

TEST_F(ArrayRequestsTest, NamesOfElementsAreReserved) {
  EXPECT_THAT(TrySubmit(TestSpec("sweep.9", 1, 1)).message(),
              HasSubstr("belongs to an element of the array"));
  EXPECT_TRUE(TrySubmit(TestSpec("sweep.10", 1, 1)).ok());
  cluster_.Submit("other.3", 1, 1);
  EXPECT_THAT(TrySubmit(NamedArray("other", "1..4")).message(),
              HasSubstr("has the name of element 3"));
  EXPECT_TRUE(TrySubmit(NamedArray("other", "1..3")).ok());
}

TEST_F(ArrayRequestsTest, ACheckpointOfAnArrayIsNoCondition) {
  v1::JobSpec after = TestSpec("after", 1, 1);
  after.add_after("sweep:checkpoint");
  EXPECT_THAT(TrySubmit(after).message(), HasSubstr("is an array and saves no checkpoints"));
}

TEST_F(ArrayRequestsTest, WhyCountsTheElementsAndNamesTheNextOne) {
  EXPECT_THAT(Why(), HasSubstr("has 10 elements: 4 are jobs now, 0 have ended (0 failed), 6 have "
                               "not started; the next element to start, job 4 (sweep.2)"));
  v1::JobSpec limited = NamedArray("limited", "1..3");
  limited.set_max_concurrent(1);
  cluster_.AddNode("b", 20);
  const int64_t other = cluster_.Submit(limited);
  cluster_.Settle();
  EXPECT_THAT(WhyPending(cluster_.View(), cluster_.state.jobs.at(other)).message(),
              HasSubstr("`max_concurrent` is 1"));
}

// An array does not hold slots itself, so an extension could only mean its elements.
TEST_F(ArrayRequestsTest, AnArrayHasNoLimitToExtend) {
  EXPECT_THAT(cluster_.Try(OfArray<ExtendJob>()).message(), HasSubstr("such as sweep.0"));
}

}  // namespace
}  // namespace trainyard::controller
