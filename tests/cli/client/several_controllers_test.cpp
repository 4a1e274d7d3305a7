// Tests the client with several controllers, of which at most one leads.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/client/client.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"

namespace trainyard::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A controller that leads or is a standby.
class RoleServer final : public v1::AccessService::Service {
 public:
  explicit RoleServer(bool leads, int port = 0) : leads_(leads) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    builder.RegisterService(&servers_);
    server_ = builder.BuildAndStart();
  }
  ~RoleServer() override { Stop(); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  void Lead() { leads_ = true; }
  // Ends the next call without an answer, as a server that shuts down does.
  void CancelNext() { servers_.cancels = true; }
  int calls() const { return servers_.calls; }
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_ = nullptr;
  }

 private:
  grpc::Status Prove(grpc::ServerContext*, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    *response = ProveFakeToken(*request);
    response->set_standby(!leads_);
    if (!leads_) response->set_leader("10.0.0.1:7070");
    return grpc::Status::OK;
  }

  struct Servers final : v1::ServerService::Service {
    grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                               v1::GetServerInfoResponse*) override {
      ++calls;
      return cancels.exchange(false) ? grpc::Status::CANCELLED : grpc::Status::OK;
    }
    std::atomic<int> calls = 0;
    std::atomic<bool> cancels = false;
  };

  std::atomic<bool> leads_;
  Servers servers_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

class SeveralControllersTest : public testing::Test {
 protected:
  Client MakeClient(std::vector<std::string> controllers,
                    std::chrono::milliseconds leader_wait = std::chrono::seconds(20)) {
    return Client(std::move(controllers), {.leader_wait = leader_wait},
                  {.token_file = WriteFakeToken(directory_.path())});
  }

  TemporaryDirectory directory_;
};

TEST_F(SeveralControllersTest, TheLeaderIsFoundBehindAStandbyAndADeadController) {
  RoleServer standby(false);
  RoleServer leader(true);
  Client client = MakeClient({"127.0.0.1:1", standby.address(), leader.address()});
  ASSERT_TRUE(client.GetServerInfo().ok());
  EXPECT_EQ(client.server(), leader.address());
  EXPECT_EQ(leader.calls(), 1);
  EXPECT_EQ(standby.calls(), 0);
}

TEST_F(SeveralControllersTest, ACallMovesToTheNextLeader) {
  RoleServer first(true);
  RoleServer second(false);
  Client client = MakeClient({first.address(), second.address()});
  ASSERT_TRUE(client.GetServerInfo().ok());
  first.Stop();
  std::thread take_over([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    second.Lead();
  });
  const auto answer = client.GetServerInfo();
  take_over.join();
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(second.calls(), 1);
}

TEST_F(SeveralControllersTest, ACallThatTheControllerEndsIsRepeated) {
  RoleServer leader(true);
  RoleServer standby(false);
  Client client = MakeClient({leader.address(), standby.address()});
  leader.CancelNext();
  const auto answer = client.GetServerInfo();
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(leader.calls(), 2);
}

TEST_F(SeveralControllersTest, WithoutALeaderEachControllerIsNamed) {
  RoleServer standby(false);
  Client client = MakeClient({"127.0.0.1:1", standby.address()}, std::chrono::milliseconds(1));
  const absl::Status status = client.GetServerInfo().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("no controller leads: cannot reach a controller at 127.0.0.1:1"),
                    HasSubstr(standby.address() + " is a standby"),
                    HasSubstr("check the controllers and their database")));
}

TEST_F(SeveralControllersTest, ASingleStandbyNamesTheLeaderAtOnce) {
  RoleServer standby(false);
  Client client = MakeClient({standby.address()});
  const auto before = std::chrono::steady_clock::now();
  const absl::Status status = client.GetServerInfo().status();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("is a standby; the controller at 10.0.0.1:7070 leads"),
                    HasSubstr("TRAINYARD_SERVER=" + standby.address() + ",10.0.0.1:7070")));
  EXPECT_EQ(standby.calls(), 0);
}

}  // namespace
}  // namespace trainyard::cli
