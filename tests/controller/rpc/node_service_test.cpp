#include "controller/rpc/node_service.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

TEST(NodeServiceTest, ListsNodesWithWhatOccupiesThem) {
  RunningController running(OpenMemoryStores());
  FakeWorker worker(running.channel, TestHello("a", 2));
  worker.Take(v1::ControllerMessage::kWelcome);
  running.Submit("job", 1);
  running.clock.Advance(700);
  v1::AttemptReport report = RunningReport(1);
  report.mutable_ranks(0)->set_unkillable("process 7 waits in the kernel");
  worker.SendReport(report);
  worker.SendFact(1, StartedFact(1));
  worker.Take(v1::ControllerMessage::kFactsAcknowledged);
  v1::ListNodesResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running.nodes->ListNodes(&context, {}, &response).ok());
  ASSERT_EQ(response.nodes_size(), 1);
  const v1::Node& node = response.nodes(0);
  EXPECT_EQ(node.name(), "name-of-a");
  EXPECT_EQ(node.state(), v1::NODE_STATE_READY);
  EXPECT_EQ(node.last_heartbeat_ms(), running.clock.Now());
  ASSERT_EQ(node.slot_uses_size(), 2);
  EXPECT_EQ(node.slot_uses(0).job_id() + node.slot_uses(1).job_id(), 1);
  EXPECT_EQ(node.slot_uses(0).unkillable() + node.slot_uses(1).unkillable(),
            "process 7 waits in the kernel");
}

TEST(NodeServiceTest, ReturnsANodeWithItsAttempts) {
  RunningController running(OpenMemoryStores());
  FakeWorker worker(running.channel, TestHello("a", 2));
  worker.Take(v1::ControllerMessage::kWelcome);
  running.Submit("job", 1);
  worker.Take(v1::ControllerMessage::kStartAttempt);
  v1::GetNodeRequest request;
  request.set_node("name-of-a");
  v1::GetNodeResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running.nodes->GetNode(&context, request, &response).ok());
  EXPECT_EQ(response.node().id(), "a");
  ASSERT_EQ(response.attempts_size(), 1);
  EXPECT_EQ(response.attempts(0).job_name(), "job");
  EXPECT_EQ(response.devices_size(), 0);
}

TEST(NodeServiceTest, RefusesAnUnknownNodeAndAHistoryThatIsTooLong) {
  RunningController running(OpenMemoryStores());
  v1::GetNodeResponse response;
  v1::GetNodeRequest request;
  request.set_node("nobody");
  grpc::ClientContext unknown, too_long;
  EXPECT_EQ(running.nodes->GetNode(&unknown, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  request.set_hours(25);
  EXPECT_EQ(running.nodes->GetNode(&too_long, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(ServerServiceTest, TellsVersionAndDirectories) {
  RunningController running(OpenMemoryStores());
  v1::GetServerInfoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running.server->GetServerInfo(&context, {}, &response).ok());
  EXPECT_EQ(response.version(), "0.1.0");
  EXPECT_EQ(response.data_dir(), "/nowhere");
  EXPECT_EQ(response.checkpoint_root(), "/nowhere/checkpoints");
  EXPECT_EQ(response.started_time_ms(), running.clock.Now());
  const std::string& address = running.controller->address();
  EXPECT_EQ(std::to_string(response.grpc_port()), address.substr(address.rfind(':') + 1));
}

}  // namespace
}  // namespace trainyard::controller
