// The checker of the order of requests knows the class of a job at the time of a start.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

using controller::MoveInQueue;
using controller::TestCluster;
using controller::TestSpec;

// Two waiting jobs of one class, on a cluster whose slots are all in use.
class SmallerRequestsTest : public ::testing::Test {
 protected:
  SmallerRequestsTest() {
    cluster_.AddNode("a", 2);
    cluster_.RunJob(cluster_.Submit("runs", 1, 2));
    first_ = cluster_.Submit("first", 1, 1);
    second_ = cluster_.Submit("second", 1, 1);
  }

  // Calls the checker after a step with these events.
  std::string CheckStep(const std::vector<v1::Event>& events) {
    const std::size_t first_new = log_.size();
    log_.insert(log_.end(), events.begin(), events.end());
    return checker_->Check({.state = cluster_.state,
                            .log = log_,
                            .first_new = first_new,
                            .world = world_,
                            .store = store_,
                            .sent = {},
                            .archive = {},
                            .promises = {},
                            .view = cluster_.View()});
  }

  static v1::Event Placed(int64_t job) {
    v1::Event event;
    event.mutable_job_placed()->set_job_id(job);
    event.mutable_job_placed()->set_attempt(1);
    return event;
  }

  TestCluster cluster_;
  std::vector<v1::Event> log_;
  const WorldOptions world_options_;
  Random random_{1};
  TrainingWorld world_{world_options_, random_};
  SimulatedStore store_;
  std::unique_ptr<Checker> checker_ = SmallerRequestsFirst();
  int64_t first_ = 0, second_ = 0;
};

TEST_F(SmallerRequestsTest, AnOvertakenJobIsFound) {
  EXPECT_EQ(CheckStep({}), "");
  EXPECT_EQ(CheckStep({Placed(second_)}), "job 3 overtook job 2");
}

TEST_F(SmallerRequestsTest, AJobThatMovesInTheSameStepIsNotOvertaken) {
  EXPECT_EQ(CheckStep({}), "");
  MoveInQueue move{.request = {}, .principal = {"ada"}};
  move.request.set_job(std::to_string(first_));
  move.request.set_priority(-1);
  std::vector<v1::Event> events = cluster_.Do(move);
  events.push_back(Placed(second_));
  EXPECT_EQ(CheckStep(events), "") << "it had another priority before the step";
  EXPECT_EQ(CheckStep({Placed(second_)}), "") << "its new priority is lower";
}

}  // namespace
}  // namespace trainyard::simulation
