// Tests what happens if a program of another user listens at the controller's address.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/door_fixture.h"
#include "tests/integration/mini_cluster.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using ImpostorTest = DoorTest;

// A program of another user that bound the controller's port while the controller was down. The
// program answers as a controller would, commands every connecting worker to run a program, and
// records all that it receives.
class Impostor final : public v1::WorkerControl::Service {
 public:
  Impostor(const std::string& address, v1::ControllerMessage order) : order_(std::move(order)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    builder.RegisterService(&access_);
    server_ = builder.BuildAndStart();
  }
  ~Impostor() override {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  bool listens() const { return server_ != nullptr; }
  int hellos() const { return hellos_; }
  int headers() const { return access_.headers; }
  int questions() const { return access_.questions; }

 private:
  struct Access final : v1::AccessService::Service {
    grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest*,
                       v1::ProveResponse* response) override {
      headers += static_cast<int>(context->client_metadata().count("authorization"));
      ++questions;
      response->set_proof(std::string(64, '0'));
      response->set_challenge("your token, please");
      return grpc::Status::OK;
    }
    std::atomic<int> headers = 0;
    std::atomic<int> questions = 0;
  };

  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ControllerMessage, v1::WorkerMessage>* stream) override {
    access_.headers += static_cast<int>(context->client_metadata().count("authorization"));
    v1::WorkerMessage first;
    if (!stream->Read(&first)) return grpc::Status::OK;
    ++hellos_;
    v1::ControllerMessage welcome;
    welcome.mutable_welcome()->set_token_proof(std::string(64, '0'));
    stream->Write(welcome);
    stream->Write(order_);
    while (stream->Read(&first)) {
    }
    return grpc::Status::OK;
  }

  const v1::ControllerMessage order_;
  Access access_;
  std::atomic<int> hellos_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Returns a command that makes the worker create this file.
v1::ControllerMessage OrderToMake(const std::string& file) {
  v1::ControllerMessage message;
  v1::StartAttempt& start = *message.mutable_start_attempt();
  start.set_job_id(1);
  start.set_job_name("impostor");
  start.set_attempt(1);
  start.mutable_spec()->add_command("/usr/bin/touch");
  start.mutable_spec()->add_command(file);
  start.add_ranks();
  start.set_world_size(1);
  start.set_node_count(1);
  start.set_master_address("127.0.0.1");
  return message;
}

TEST_F(ImpostorTest, AnImpostorAtTheControllersPortGetsNothingAndCommandsNobody) {
  const std::string file = cluster_.directory() + "/made-by-the-impostor";
  cluster_.KillController();
  {
    const Impostor impostor(cluster_.address(), OrderToMake(file));
    ASSERT_TRUE(impostor.listens());
    ASSERT_TRUE(Eventually([&] { return impostor.questions() >= 2; })) << cluster_.DaemonLogs();
    const CommandResult refused = cluster_.Cli({"nodes"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.error, AllOf(HasSubstr("does not know the token"),
                                     HasSubstr(cluster_.address()), Not(HasSubstr(Token()))));
    EXPECT_EQ(impostor.hellos(), 0);
    EXPECT_EQ(impostor.headers(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(cluster_.DaemonLogs(), HasSubstr("does not know the token"));
  cluster_.StartController();
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
}

}  // namespace
}  // namespace trainyard::test
