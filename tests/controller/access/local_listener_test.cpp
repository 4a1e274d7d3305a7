#include "controller/access/local_listener.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "controller/access/server_credentials.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access/channel.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/access_service.grpc.pb.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

// A service that returns the caller's uid as text.
class WhoService final : public v1::AccessService::CallbackService {
  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context, const v1::WhoAmIRequest*,
                                   v1::WhoAmIResponse* response) override {
    const std::optional<uid_t> user = LocalUserOf(*context);
    response->set_user(user.has_value() ? std::to_string(*user) : "unknown");
    response->set_verified(IsFromThisMachine(*context));
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

class LocalListenerTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(directory_.path(), fs::perms::all);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    listener_.AddPorts(builder, MakeLocalCredentials);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    socket_ = LocalSocket();
    const absl::Status started = listener_.Start(socket_, /*for_group=*/false);
    ASSERT_TRUE(started.ok()) << started;
    fs::permissions(socket_, fs::perms::all);
  }
  void TearDown() override {
    listener_.Stop();
    server_->Shutdown(std::chrono::system_clock::now());
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string LocalSocket() const { return token_file_ + "." + std::to_string(port_) + ".sock"; }

  // Makes several calls on one channel and returns the server's answers.
  std::vector<std::string> Ask(int calls) const {
    const auto access = FindAccess(address(), {.token_file = token_file_});
    const auto opened = OpenChannel(*access);
    EXPECT_TRUE(opened.ok()) << opened.status();
    std::vector<std::string> users;
    if (!opened.ok()) return users;
    const auto stub = v1::AccessService::NewStub(opened->channel);
    for (int i = 0; i < calls; ++i) {
      grpc::ClientContext context;
      v1::WhoAmIResponse response;
      const grpc::Status status = stub->WhoAmI(&context, {}, &response);
      users.push_back(status.ok() ? response.user() : status.error_message());
    }
    return users;
  }

  TemporaryDirectory directory_;
  const std::string token_file_ = WriteFakeToken(directory_.path());
  WhoService service_;
  LocalListener listener_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::string socket_;
};

TEST_F(LocalListenerTest, EveryCallHasTheUserOfItsConnection) {
  const std::string me = std::to_string(geteuid());
  EXPECT_THAT(Ask(3), ElementsAre(me, me, me));
  EXPECT_THAT(Ask(1), ElementsAre(me));
}

TEST_F(LocalListenerTest, CallersOverTcpHaveNoUser) {
  const auto channel = grpc::CreateChannel(address(), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  v1::WhoAmIResponse response;
  ASSERT_TRUE(v1::AccessService::NewStub(channel)->WhoAmI(&context, {}, &response).ok());
  EXPECT_EQ(response.user(), "unknown");
  EXPECT_TRUE(response.verified()) << "loopback is this machine";
}

TEST_F(LocalListenerTest, StopsAndRemovesItsSocket) {
  listener_.Stop();
  EXPECT_FALSE(fs::exists(socket_));
}

}  // namespace
}  // namespace trainyard::controller
