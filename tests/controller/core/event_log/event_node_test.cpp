#include "controller/core/event_log/event_node.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(EventNodeTest, EventsAboutANodeNameIt) {
  v1::Event event;
  event.mutable_node_joined()->mutable_node()->set_id("a");
  EXPECT_EQ(ChangedNode(event), "a");
  event.mutable_node_returned()->set_node_id("b");
  EXPECT_EQ(ChangedNode(event), "b");
  event.mutable_node_blamed()->set_node_id("c");
  EXPECT_EQ(ChangedNode(event), "c");
  event.mutable_attempt_cleared()->set_node_id("d");
  EXPECT_EQ(ChangedNode(event), "d");
}

TEST(EventNodeTest, OtherEventsNameNone) {
  v1::Event event;
  EXPECT_EQ(ChangedNode(event), "") << "no kind";
  event.mutable_job_placed()->set_job_id(7);
  EXPECT_EQ(ChangedNode(event), "") << "changes all nodes of the gang";
  event.mutable_facts_received()->set_node_id("a");
  EXPECT_EQ(ChangedNode(event), "") << "changes only the number of received facts";
}

}  // namespace
}  // namespace trainyard::controller
