#include "controller/api/jobs/rank_view.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

class RankViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.AddNode("a", 4);
    job_ = cluster_.Submit("job", 1, 4);
    cluster_.RunJob(job_);
  }

  std::vector<v1::RankState> States() const {
    const auto ranks = RanksNow(cluster_.state.jobs.at(job_), 0, cluster_.View());
    std::vector<v1::RankState> states;
    for (const v1::RankStatus& rank : ranks.value().ranks()) states.push_back(rank.state());
    return states;
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(RankViewTest, DistinguishesAFailureFromTheStopThatFollowsIt) {
  cluster_.Pass(1000);
  cluster_.ExitRank(job_, 2, 1, cluster_.now);
  cluster_.Pass(5000);
  ASSERT_NE(cluster_.Attempt(job_).stopping_time_ms(), 0);
  cluster_.ExitRank(job_, 0, 143, cluster_.now);
  cluster_.ExitRank(job_, 1, 0, cluster_.now);
  EXPECT_THAT(States(), ElementsAre(v1::RANK_STATE_STOPPED, v1::RANK_STATE_EXITED,
                                    v1::RANK_STATE_FAILED, v1::RANK_STATE_RUNNING));
}

TEST_F(RankViewTest, EachFailureBeforeTheStopIsAFailure) {
  cluster_.Pass(1000);
  cluster_.ExitRank(job_, 2, 1, cluster_.now);
  cluster_.ExitRank(job_, 3, 69, cluster_.now - 10);
  EXPECT_THAT(States(), ElementsAre(v1::RANK_STATE_RUNNING, v1::RANK_STATE_RUNNING,
                                    v1::RANK_STATE_FAILED, v1::RANK_STATE_FAILED));
}

}  // namespace
}  // namespace trainyard::controller
