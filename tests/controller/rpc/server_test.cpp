#include "controller/rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

TEST(StartServerTest, RefusesAnAddressThatIsNone) {
  for (const char* listen : {"", "7070", "host:", "host:x", "host:70000", ":7070", "host:-1"}) {
    EXPECT_EQ(StartServer(listen, {}).status().code(), absl::StatusCode::kInvalidArgument)
        << listen;
  }
}

TEST(StartServerTest, SaysThatTheAddressIsNotOfThisMachine) {
  // TEST-NET-1: nobody's address.
  const auto server = StartServer("192.0.2.1:7070", {});
  EXPECT_EQ(server.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(server.status().message()), testing::HasSubstr("192.0.2.1"));
}

TEST(StartServerTest, TellsTheRealPort) {
  auto server = StartServer("127.0.0.1:0", {});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(server->address, testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
}

// Calls a method by its name with the given bytes and returns the status, which shows whether the
// server has this method.
grpc::StatusCode CallByName(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  const grpc::Slice empty("");
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::StatusCode> code;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](const grpc::Status& status) { code.set_value(status.error_code()); });
  return code.get_future().get();
}

TEST(StartServerTest, ServesHealthAndReflection) {
  RunningController running(OpenMemoryStores());
  EXPECT_EQ(CallByName(running.channel, "/grpc.health.v1.Health/Check"), grpc::StatusCode::OK);
  EXPECT_NE(
      CallByName(running.channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"),
      grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(CallByName(running.channel, "/trainyard.v1.JobService/NoSuchCall"),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST(StartServerTest, RefusesAMessageThatIsTooLarge) {
  RunningController running(OpenMemoryStores());
  v1::GetJobRequest request;
  request.set_job(std::string(17 << 20, 'x'));
  v1::GetJobResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(running.jobs->GetJob(&context, request, &response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace trainyard::controller
