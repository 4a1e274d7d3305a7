// Tests `server hand-over`. The fake server is the leader and its successor at one address.
#include "cli/commands/server/hand_over.h"

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class HandOverTest : public CliFixture {
 protected:
  HandOverTest() {
    SetLeader("old:1", 7);
    answers().hand_over = [this](const v1::HandOverRequest& request,
                                 v1::HandOverResponse& response) {
      requests_.push_back(request);
      response.set_from("old:1");
      response.set_to(address_);
      response.set_term(7);
      if (takes_over_) LeadNext();
      return status_;
    };
    address_ = server().address();
    answers_ = &answers();
  }

  void SetLeader(const std::string& address, int64_t term) {
    v1::Leadership& leadership = *answers().server.mutable_leadership();
    leadership.set_leads(true);
    leadership.set_leader(address);
    leadership.set_term(term);
  }
  // Called while the server holds its lock.
  void LeadNext() const {
    answers_->server.mutable_leadership()->set_leader(address_);
    answers_->server.mutable_leadership()->set_term(8);
  }

  std::string address_;
  FakeAnswers* answers_ = nullptr;
  std::vector<v1::HandOverRequest> requests_;
  grpc::Status status_;
  bool takes_over_ = true;
};

TEST_F(HandOverTest, TheCommandReturnsOnceTheStandbyLeads) {
  const CliResult result = Run({"server", "hand-over", "--to", address_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(address_ + " leads term 8, "));
  EXPECT_THAT(result.out, HasSubstr("old:1 has exited"));
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].to(), address_);
  EXPECT_EQ(requests_[0].from(), "old:1");
  EXPECT_FALSE(requests_[0].user().empty());
}

TEST_F(HandOverTest, JsonNamesBothControllersAndTheTerms) {
  const auto json = nlohmann::json::parse(Run({"server", "hand-over", "-o", "json"}).out);
  EXPECT_EQ(json["from"], "old:1");
  EXPECT_EQ(json["leader"], address_);
  EXPECT_EQ(json["leader_term"], 8);
  EXPECT_EQ(requests_[0].to(), "");
}

// The first answer was lost, and the repeated request reaches the new leader.
TEST_F(HandOverTest, ARequestThatReachesTheNewLeaderHasSucceeded) {
  status_ = {grpc::StatusCode::FAILED_PRECONDITION, "it leads, and not old:1"};
  const CliResult result = Run({"server", "hand-over"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(address_ + " leads term 8, "));
}

TEST_F(HandOverTest, ARefusalIsAnError) {
  takes_over_ = false;
  status_ = {grpc::StatusCode::FAILED_PRECONDITION, "no standby is ready; start another"};
  const CliResult result = Run({"server", "hand-over"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("no standby is ready; start another"));
}

}  // namespace
}  // namespace trainyard::cli
