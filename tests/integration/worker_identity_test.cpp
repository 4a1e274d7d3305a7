// Tests the identity of a worker and the removal of its node.
#include <sys/stat.h>

#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/contract/protocol_version.h"
#include "tests/fakes/process_channel.h"
#include "tests/integration/door_fixture.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using WorkerIdentityTest = DoorTest;

// Attaches a worker with this Hello. Returns the status with which the controller ends the stream;
// OK if the controller sends a Welcome.
grpc::Status AttachAs(const std::string& address, const v1::Hello& hello) {
  const auto stub = v1::WorkerControl::NewStub(OpenProcessChannel(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  *message.mutable_hello() = hello;
  stream->Write(message);
  v1::ControllerMessage answer;
  if (stream->Read(&answer)) {
    context.TryCancel();
    stream->Finish();
    return grpc::Status::OK;
  }
  return stream->Finish();
}

TEST_F(WorkerIdentityTest, NobodyTakesOverTheStreamOfALiveWorker) {
  const std::string secret = FirstLine(ReadFile(cluster_.directory() + "/worker0/node_secret"));
  ASSERT_EQ(secret.size(), 64u);
  struct stat info {};
  ASSERT_EQ(stat((cluster_.directory() + "/worker0/node_secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  // All information about the node that a user of the cluster can read.
  const auto nodes =
      nlohmann::json::parse(Http("GET", Url("/api/v1/nodes"), {"Authorization: " + Bearer()}).text);
  const auto& node = nodes["nodes"][0];
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(node["id"].get<std::string>());
  hello.set_node_name("node0");
  hello.set_incarnation(node["incarnation"].get<std::string>());
  hello.set_address("127.0.0.1");
  for (const std::string& made_up : {std::string(), std::string(64, 'a')}) {
    hello.set_node_secret(made_up);
    const grpc::Status status = AttachAs(cluster_.address(), hello);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
  }
  EXPECT_THAT(cluster_.DaemonLogs(), Not(HasSubstr("detached"))) << "the right worker stays";
  EXPECT_THAT(nodes.dump(), Not(HasSubstr(secret)));
  // Kills the legitimate worker so that it cannot reconnect first.
  cluster_.KillWorker(0);
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(AttachAs(cluster_.address(), hello).error_code(), grpc::StatusCode::PERMISSION_DENIED)
      << "the binding is durable";
  hello.set_node_secret(secret);
  EXPECT_TRUE(AttachAs(cluster_.address(), hello).ok());
}

TEST_F(WorkerIdentityTest, ALostNodeIsRemovedAndItsWorkerComesBack) {
  EXPECT_NE(cluster_.Cli({"node", "remove", "node0"}).exit_code, 0) << "it is ready";
  cluster_.KillWorker(0);
  ASSERT_TRUE(Eventually(
      [&] { return cluster_.Cli({"nodes"}).output.find(" lost ") != std::string::npos; }));
  const CommandResult removed = cluster_.Cli({"node", "remove", "node0"});
  EXPECT_EQ(removed.exit_code, 0) << removed.error;
  EXPECT_EQ(cluster_.Cli({"nodes", "-o", "name"}).output, "");
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(cluster_.Cli({"nodes", "-o", "name"}).output, "");
  cluster_.StartWorker(0);
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
}

}  // namespace
}  // namespace trainyard::test
