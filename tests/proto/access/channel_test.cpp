#include "proto/access/channel.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access/controller_list.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/access_service.grpc.pb.h"

namespace trainyard {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A program that listens at a controller's address and records the headers that it receives.
class Program final : public v1::AccessService::Service {
 public:
  using Answer = std::function<grpc::Status(const v1::ProveRequest&, v1::ProveResponse&)>;
  explicit Program(Answer answer, int port = 0) : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Program() override { Stop(); }
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_ = nullptr;
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  int port() const { return port_; }
  std::vector<std::string> headers() {
    const std::lock_guard lock(mutex_);
    return headers_;
  }

 private:
  grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    Record(*context);
    return answer_(*request, *response);
  }
  grpc::Status WhoAmI(grpc::ServerContext* context, const v1::WhoAmIRequest*,
                      v1::WhoAmIResponse*) override {
    Record(*context);
    return grpc::Status::OK;
  }
  void Record(const grpc::ServerContext& context) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : context.client_metadata()) {
      if (key == "authorization") headers_.emplace_back(value.data(), value.size());
    }
  }

  const Answer answer_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> headers_;
  std::unique_ptr<grpc::Server> server_;
};

grpc::Status ProveRightly(const v1::ProveRequest& request, v1::ProveResponse& response) {
  response = ProveFakeToken(request);
  return grpc::Status::OK;
}

class ChannelTest : public testing::Test {
 protected:
  absl::StatusOr<OpenedChannel> Open(const std::string& address) {
    const auto access = FindAccess(address, {.token_file = token_file_});
    if (!access.ok()) return access.status();
    return OpenChannel(*access, {.limit = std::chrono::milliseconds(2000)});
  }
  static grpc::Status Call(const OpenedChannel& opened) {
    grpc::ClientContext context;
    v1::WhoAmIResponse response;
    return v1::AccessService::NewStub(opened.channel)->WhoAmI(&context, {}, &response);
  }

  TemporaryDirectory directory_;
  const std::string token_file_ = WriteFakeToken(directory_.path());
};

TEST_F(ChannelTest, AControllerThatProvesTheTokenGetsAProofAndNeverTheToken) {
  Program controller(ProveRightly);
  const auto opened = Open(controller.address());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(Call(*opened).ok());
  EXPECT_THAT(controller.headers(), SizeIs(1)) << "none before the proof";
  EXPECT_EQ(controller.headers().front(), ProofHeader(FakeToken(), "challenge"));
  EXPECT_THAT(controller.headers(), Each(Not(HasSubstr(FakeToken()))));
}

TEST_F(ChannelTest, AStandbyIsUnavailableUnlessItIsAccepted) {
  Program standby([](const v1::ProveRequest& request, v1::ProveResponse& response) {
    response = ProveFakeToken(request);
    response.set_standby(true);
    response.set_leader("10.0.0.1:7070");
    return grpc::Status::OK;
  });
  const absl::Status refused = Open(standby.address()).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_EQ(LeaderNamedBy(refused), "10.0.0.1:7070");
  const auto access = FindAccess(standby.address(), {.token_file = token_file_});
  EXPECT_TRUE(OpenChannel(*access, {.accept_standby = true}).ok());
}

TEST_F(ChannelTest, AnImpostorGetsNothing) {
  Program impostor([](const v1::ProveRequest& request, v1::ProveResponse& response) {
    response.set_proof(ControllerProof(std::string(64, '0'), request.nonce(), request.address()));
    response.set_challenge("give me the token");
    return grpc::Status::OK;
  });
  const auto refused = Open(impostor.address());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr(impostor.address()), HasSubstr(token_file_)));
  EXPECT_THAT(impostor.headers(), IsEmpty());
}

TEST_F(ChannelTest, AnImpostorCannotPassOnTheAnswerOfTheController) {
  Program controller(ProveRightly);
  Program impostor([&](v1::ProveRequest request, v1::ProveResponse& response) {
    request.set_address(controller.address());
    response = ProveFakeToken(request);
    return grpc::Status::OK;
  });
  EXPECT_EQ(Open(impostor.address()).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(ChannelTest, ARelayWorksForThoseWhoTrustIt) {
  Program controller(ProveRightly);
  Program relay([&](const v1::ProveRequest& request, v1::ProveResponse& response) {
    if (!request.address().empty()) {
      return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "the caller dialed another port");
    }
    response = ProveFakeToken(request);
    return grpc::Status::OK;
  });
  EXPECT_EQ(Open(relay.address()).status().code(), absl::StatusCode::kFailedPrecondition);
  const auto access = FindAccess(relay.address(), {.token_file = token_file_, .insecure = true});
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_TRUE(OpenChannel(*access).ok());
}

TEST_F(ChannelTest, AnOlderControllerIsNamedAsSuch) {
  Program older([](const v1::ProveRequest&, v1::ProveResponse&) {
    return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "this controller wants its token");
  });
  const auto refused = Open(older.address());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("upgrade the controller first"));
}

TEST_F(ChannelTest, AnOpenChannelNeverReachesAnotherProgram) {
  auto controller = std::make_unique<Program>(ProveRightly);
  const int port = controller->port();
  const auto opened = Open(controller->address());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE(Call(*opened).ok());
  controller = nullptr;
  Program impostor(ProveRightly, port);
  ASSERT_EQ(impostor.port(), port);
  EXPECT_EQ(Call(*opened).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(*opened).error_code(), grpc::StatusCode::UNAVAILABLE) << "not even later";
  EXPECT_THAT(impostor.headers(), IsEmpty());
}

TEST_F(ChannelTest, NobodyThereIsUnavailable) {
  std::string address;
  { address = Program(ProveRightly).address(); }
  const auto refused = Open(address);
  EXPECT_EQ(refused.status(), absl::UnavailableError("Connection refused"));
}

}  // namespace
}  // namespace trainyard
