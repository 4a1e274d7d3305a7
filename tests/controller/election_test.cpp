#include "controller/election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <future>
#include <iterator>
#include <string>
#include <thread>

#include "controller/http/server.h"
#include "proto/access/address.h"
#include "proto/access/channel.h"
#include "proto/access/controller_list.h"
#include "proto/support/grpc_status.h"
#include "tests/controller/fake_seat.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ElectionTest : public testing::Test {
 protected:
  ElectionTest() {
    options_.listen = "127.0.0.1:0";
    options_.http.listen = "127.0.0.1:0";
    options_.token = FakeToken();
    options_.token_file = WriteFakeToken(directory_.path());
    hooks_.open_seat = [this]() -> absl::StatusOr<std::unique_ptr<LeaderSeat>> {
      ++opened_;
      const absl::Status refused = election_.Get().status;
      if (absl::IsNotFound(refused)) return absl::UnavailableError(refused.message());
      return std::make_unique<FakeSeat>(election_);
    };
    hooks_.stop_requested = [this](std::chrono::milliseconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return stop_.load();
    };
    hooks_.on_standby = [this](const std::string& address, const std::string& http_address) {
      listening_.set_value({address, http_address});
    };
  }

  void Begin() {
    seat_ = std::async(std::launch::async, [this] { return WaitToLead(hooks_, clock_, options_); });
  }
  // Waits until the standby listens. Returns the addresses of gRPC and HTTP.
  std::pair<std::string, std::string> Addresses() { return listening_.get_future().get(); }

  absl::StatusOr<OpenedChannel> Open(const std::string& address, bool accept_standby) const {
    const auto access = FindAccess(address, {.token_file = options_.token_file});
    return OpenChannel(*access, {.always_prove = true, .accept_standby = accept_standby});
  }
  // Calls until the leader is `leader`.
  v1::Leadership LeadershipShown(const OpenedChannel& opened, const std::string& leader) const {
    for (int i = 0; i < 5000; ++i) {
      grpc::ClientContext context;
      v1::GetServerInfoResponse info;
      v1::ServerService::NewStub(opened.channel)->GetServerInfo(&context, {}, &info);
      if (info.leadership().leader() == leader) return info.leadership();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return {};
  }

  // Returns the whole answer, with its status line and headers.
  static std::string HttpGet(const std::string& address, const std::string& target,
                             const std::string& headers = "Host: localhost") {
    const auto where = SplitAddress(address);
    boost::asio::ip::tcp::iostream stream(where->host, std::to_string(where->port));
    stream << "GET " << target << " HTTP/1.1\r\n"
           << headers << "\r\nConnection: close\r\n\r\n"
           << std::flush;
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  TemporaryDirectory directory_;
  const SystemClock clock_;
  FakeElection election_;
  ControllerOptions options_;
  ElectionHooks hooks_;
  std::atomic<int> opened_ = 0;
  std::atomic<bool> stop_ = false;
  std::promise<std::pair<std::string, std::string>> listening_;
  std::future<absl::StatusOr<std::unique_ptr<LeaderSeat>>> seat_;
};

TEST_F(ElectionTest, AFreeSeatIsTakenWithoutAStandby) {
  election_.Set({.term = 1});
  Begin();
  const auto seat = seat_.get();
  ASSERT_TRUE(seat.ok()) << seat.status();
  EXPECT_EQ((*seat)->term(), 1);
  EXPECT_EQ(options_.listen, "127.0.0.1:0") << "nothing listened";
}

TEST_F(ElectionTest, AStandbyNamesTheLeaderAndRefusesCalls) {
  election_.Set({.leader = "10.0.0.1:7070", .leader_term = 7});
  Begin();
  const auto [address, http_address] = Addresses();
  EXPECT_EQ(LeaderNamedBy(Open(address, false).status()), "10.0.0.1:7070");
  const auto opened = Open(address, true);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const v1::Leadership shown = LeadershipShown(*opened, "10.0.0.1:7070");
  EXPECT_EQ(shown.term(), 7);
  EXPECT_FALSE(shown.leads());
  grpc::ClientContext context;
  v1::ListJobsResponse response;
  const absl::Status refused =
      FromGrpc(v1::JobService::NewStub(opened->channel)->ListJobs(&context, {}, &response));
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the controller at 10.0.0.1:7070 leads"));
  EXPECT_THAT(HttpGet(http_address, "/healthz"),
              AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("is a standby")));
  EXPECT_THAT(HttpGet(http_address, "/api/v1/jobs"), HasSubstr("HTTP/1.1 503"));
  stop_ = true;
  EXPECT_EQ(*seat_.get(), nullptr);
}

TEST_F(ElectionTest, AStandbyPassesThePageOnToTheLeader) {
  const auto leader = *http::Server::Listen("127.0.0.1:0");
  leader->Start([](const http::Request& request, const http::Respond& respond) {
    respond({.body = "the leader answers " + request.target});
  });
  election_.Set(
      {.leader = "10.0.0.1:7070", .leader_term = 7, .leader_page = leader->address()});
  Begin();
  const auto [address, http_address] = Addresses();
  std::string answer;
  for (int i = 0; i < 5000 && answer.find("the leader answers") == std::string::npos; ++i) {
    answer = HttpGet(http_address, "/api/v1/jobs");
  }
  EXPECT_THAT(answer,
              AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("the leader answers /api/v1/jobs")));
  EXPECT_THAT(HttpGet(http_address, "/healthz"), HasSubstr("is a standby"));
  EXPECT_THAT(HttpGet(http_address, "/metrics"), HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(HttpGet(http_address, "/", "Host: evil.example"), HasSubstr("host_not_allowed"));
  EXPECT_THAT(HttpGet(http_address, "/", "Host: localhost\r\nTrainyard-Relay: 1"),
              HasSubstr("HTTP/1.1 503"))
      << "two standbys do not pass a request to and fro";
  stop_ = true;
  EXPECT_EQ(*seat_.get(), nullptr);
}

TEST_F(ElectionTest, ACallerWithoutTheTokenLearnsNothing) {
  election_.Set({.leader = "10.0.0.1:7070", .leader_term = 7});
  Begin();
  const auto [address, http_address] = Addresses();
  grpc::ClientContext context;
  v1::ListJobsResponse response;
  const grpc::Status refused =
      v1::JobService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))
          ->ListJobs(&context, {}, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAUTHENTICATED) << refused.error_message();
  stop_ = true;
}

TEST_F(ElectionTest, AStandbyTakesOverAtItsOwnAddress) {
  election_.Set({.leader = "10.0.0.1:7070", .leader_term = 7});
  Begin();
  const auto [address, http_address] = Addresses();
  election_.Set({.term = 8});
  const auto seat = seat_.get();
  ASSERT_TRUE(seat.ok()) << seat.status();
  EXPECT_EQ((*seat)->term(), 8);
  EXPECT_EQ(options_.listen, address);
  EXPECT_EQ(options_.http.listen, http_address);
  EXPECT_FALSE(Open(address, true).ok()) << "the port is free for the controller";
}

TEST_F(ElectionTest, AnUnreachableDatabaseIsReportedAndTriedAgain) {
  election_.Set({.status = absl::NotFoundError("db: no answer")});
  Begin();
  const auto [address, http_address] = Addresses();
  while (opened_ < 3) std::this_thread::yield();
  EXPECT_THAT(HttpGet(http_address, "/healthz"),
              AllOf(HasSubstr("HTTP/1.1 503"), HasSubstr("db: no answer\n")));
  election_.Set({.term = 2});
  EXPECT_EQ((*seat_.get())->term(), 2);
}

TEST_F(ElectionTest, TheAppliedEventsAreReported) {
  hooks_.position = [] { return int64_t{42}; };
  election_.Set({.leader = "10.0.0.1:7070", .leader_term = 7});
  Begin();
  const auto [address, http_address] = Addresses();
  const auto opened = Open(address, true);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(LeadershipShown(*opened, "10.0.0.1:7070").term(), 7);
  EXPECT_EQ(election_.Get().position, 42);
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(v1::ServerService::NewStub(opened->channel)->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.revision(), 42u);
  stop_ = true;
}

TEST_F(ElectionTest, AStandbyOfAnOlderReleaseDoesNotTakeOver) {
  std::atomic<bool> is_older = true;
  hooks_.problem = [&] { return std::string(is_older ? "upgrade this controller" : ""); };
  election_.Set({.term = 8});
  Begin();
  const auto [address, http_address] = Addresses();
  EXPECT_THAT(HttpGet(http_address, "/healthz"),
              AllOf(HasSubstr("HTTP/1.1 503"), HasSubstr("upgrade this controller\n")));
  EXPECT_EQ(election_.Get().steps, 0);
  is_older = false;
  EXPECT_EQ((*seat_.get())->term(), 8);
}

TEST_F(ElectionTest, AnErrorThatCannotPassEndsTheWait) {
  election_.Set({.status = absl::PermissionDeniedError("grant pg_signal_backend")});
  Begin();
  EXPECT_TRUE(absl::IsPermissionDenied(seat_.get().status()));
}

}  // namespace
}  // namespace trainyard::controller
