#include "worker/rpc/code_peer.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "trainyard/v1/code_service.grpc.pb.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

const std::string kClusterToken(64, '7');
const std::string kSharedSnapshot(64, 'a');

class CodePeerTest : public testing::Test {
 protected:
  std::unique_ptr<CodePeerServer> Start(CodePeerServer::Options options = {
                                            .listen = "127.0.0.1:0"}) {
    auto server = CodePeerServer::Start(
        options, [this] { return token_; },
        [this](const std::string& snapshot, const std::vector<std::string>& digests) {
          return Pack(snapshot, digests);
        });
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }
  absl::StatusOr<std::string> Pack(const std::string& snapshot,
                                   const std::vector<std::string>& digests) {
    if (snapshot != kSharedSnapshot) return absl::NotFoundError("this node lacks the snapshot");
    std::unique_lock lock(mutex_);
    ++packing_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_blocked_; });
    return "pack of " + digests.at(0);
  }
  static absl::StatusOr<std::string> Fetch(const CodePeerServer& server,
                                           const std::string& token = kClusterToken,
                                           const std::string& snapshot = kSharedSnapshot) {
    return FetchCodeFromPeer(server.address(), token, snapshot, {"digest"});
  }

  absl::StatusOr<std::string> token_ = kClusterToken;
  std::mutex mutex_;
  std::condition_variable changed_;
  int packing_ = 0;
  bool is_blocked_ = false;
};

TEST_F(CodePeerTest, SendsAPackToANodeWithTheToken) {
  const auto server = Start();
  ASSERT_NE(server, nullptr);
  const auto pack = Fetch(*server);
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_EQ(*pack, "pack of digest");
  EXPECT_EQ(Fetch(*server, kClusterToken, "other").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CodePeerTest, RefusesCallersWithoutTheToken) {
  const auto server = Start();
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(Fetch(*server, std::string(64, '8')).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(packing_, 0);
  token_ = absl::NotFoundError("no token file");
  EXPECT_EQ(Fetch(*server).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CodePeerTest, SendsNothingInTheClear) {
  const auto server = Start();
  ASSERT_NE(server, nullptr);
  const auto stub = v1::CodePeerService::NewStub(
      grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  v1::FetchSealedCodeRequest request;
  request.set_snapshot(kSharedSnapshot);
  request.add_digests("digest");
  v1::FetchSealedCodeResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(stub->FetchSealedCode(&context, request, &response).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(response.sealed(), "");
}

TEST_F(CodePeerTest, RefusesMoreCallsThanItsLimit) {
  const auto server = Start({.listen = "127.0.0.1:0", .max_calls = 1});
  ASSERT_NE(server, nullptr);
  {
    const std::lock_guard lock(mutex_);
    is_blocked_ = true;
  }
  absl::StatusOr<std::string> first = absl::UnknownError("not fetched");
  std::thread caller([&] { first = Fetch(*server); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return packing_ == 1; });
  }
  EXPECT_EQ(Fetch(*server).status().code(), absl::StatusCode::kResourceExhausted);
  {
    const std::lock_guard lock(mutex_);
    is_blocked_ = false;
  }
  changed_.notify_all();
  caller.join();
  EXPECT_TRUE(first.ok()) << first.status();
}

TEST_F(CodePeerTest, ReportsAddressesThatItCannotUse) {
  const auto server = Start();
  ASSERT_NE(server, nullptr);
  const auto pack = [](const std::string&, const std::vector<std::string>&) {
    return absl::StatusOr<std::string>("");
  };
  const auto token = [] { return absl::StatusOr<std::string>(""); };
  for (const char* listen : {"here", "localhost:7073", "unix:/tmp/code", "10.0.0.1"}) {
    const auto refused = CodePeerServer::Start({.listen = listen}, token, pack).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << listen;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("expected IP:PORT")) << listen;
  }
  const auto in_use = CodePeerServer::Start({.listen = server->address()}, token, pack).status();
  EXPECT_EQ(in_use.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(in_use.message()), HasSubstr("port is in use"));
}

TEST_F(CodePeerTest, SharesTheNodesAddressIfItListensOnAll) {
  const auto server = Start({.listen = "0.0.0.0:0", .host = "10.1.2.3"});
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(absl::StartsWith(server->address(), "10.1.2.3:")) << server->address();
}

TEST_F(CodePeerTest, GivesUpOnNodesThatAreGone) {
  std::string address;
  {
    const auto server = Start();
    ASSERT_NE(server, nullptr);
    address = server->address();
  }
  EXPECT_FALSE(FetchCodeFromPeer(address, kClusterToken, kSharedSnapshot, {"digest"}).ok());
  EXPECT_FALSE(FetchCodeFromPeer("unix:/tmp/x:1", kClusterToken, kSharedSnapshot, {"d"}).ok());
}

}  // namespace
}  // namespace trainyard::worker
