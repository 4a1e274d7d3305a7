#include "controller/core/event_log/event_job.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(EventJobTest, OnlyEventsAboutAJobHaveItsNumber) {
  v1::Event event;
  EXPECT_EQ(JobIdOf(event), 0) << "of no kind";
  event.mutable_node_lost()->set_node_id("a");
  EXPECT_EQ(JobIdOf(event), 0) << "about a node";
  event.mutable_job_placed()->set_job_id(7);
  EXPECT_EQ(JobIdOf(event), 7);
  event.mutable_rank_exited()->set_job_id(8);
  EXPECT_EQ(JobIdOf(event), 8);
}

}  // namespace
}  // namespace trainyard::controller
