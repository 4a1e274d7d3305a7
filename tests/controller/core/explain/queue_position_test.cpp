// The position of one job in the queue equals that in a list of all jobs.
#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/explain/pending_reason.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// One node, on which a recovering job keeps its slots during its backoff.
class QueuePositionTest : public ::testing::Test {
 protected:
  QueuePositionTest() {
    cluster_.AddNode("a", 2);
    failed_ = cluster_.Submit("failed", 1, 2);
    cluster_.RunJob(failed_);
    Submit("first");
    without_layout_ = cluster_.Submit(AutoSpec("without-layout", 1, 1));
    Submit("second");
    Submit("third", 1);
    cluster_.ExitAll(failed_, 1);
    cluster_.ClearAll(failed_);
    v1::GrantedLayout none;
    none.set_asked_nodes(1);
    none.set_slots_per_node(1);
    none.set_device("cpu");
    none.set_problem("no layout fits");
    cluster_.Do(ChooseLayout{without_layout_, none});
  }

  void Submit(const std::string& name, int priority = 0) {
    v1::JobSpec spec = TestSpec(name, 1, 2);
    spec.set_priority(priority);
    jobs_.push_back(cluster_.Submit(spec));
  }

  // Returns the positions of the jobs with equal resources.
  std::vector<int> Positions() {
    std::vector<int> positions;
    for (const int64_t job : jobs_) positions.push_back(PositionOf(job));
    return positions;
  }

  int PositionOf(int64_t job) {
    const int position = WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).queue_position();
    PendingExplainer explainer(cluster_.View());
    EXPECT_EQ(explainer.Why(cluster_.state.jobs.at(job)).queue_position(), position) << job;
    return position;
  }

  TestCluster cluster_;
  int64_t failed_ = 0, without_layout_ = 0;
  std::vector<int64_t> jobs_;
};

TEST_F(QueuePositionTest, JobsThatRequestNoSlotsHaveNone) {
  EXPECT_EQ(PositionOf(failed_), 0) << "its backoff is not over";
  EXPECT_EQ(PositionOf(without_layout_), 0);
  EXPECT_EQ(Positions(), (std::vector<int>{2, 3, 1})) << "the third job has a higher priority";
}

TEST_F(QueuePositionTest, AJobAfterItsBackoffIsFirst) {
  cluster_.now += 2000;
  EXPECT_EQ(PositionOf(failed_), 1) << "it keeps slots";
  EXPECT_EQ(Positions(), (std::vector<int>{3, 4, 2}));
}

}  // namespace
}  // namespace trainyard::controller
