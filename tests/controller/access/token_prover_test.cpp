#include "controller/access/token_prover.h"

#include "gtest/gtest.h"
#include "proto/proof/proof.h"

namespace trainyard::controller {
namespace {

constexpr char kToken[] = "token-of-this-controller";

v1::ProveRequest Question(const std::string& address) {
  v1::ProveRequest request;
  request.set_nonce(std::string(64, 'n'));
  request.set_address(address);
  return request;
}

class TokenProverTest : public testing::Test {
 protected:
  std::atomic<int> port_ = 7070;
  TokenProver prover_{kToken, "127.0.0.1", port_};
};

TEST_F(TokenProverTest, ProvesTheTokenForItsOwnAddressOnly) {
  for (const char* address : {"", "127.0.0.1:7070", "10.0.0.1:7070"}) {
    const auto answer = prover_.Prove(Question(address));
    ASSERT_TRUE(answer.ok()) << address << ": " << answer.status();
    EXPECT_EQ(answer->proof(), ControllerProof(kToken, std::string(64, 'n'), address));
  }
  for (const char* address :
       {"127.0.0.1:7071", "127.0.0.2:7070", "[::1]:7070", "10.0.0.1:7071", "somewhere"}) {
    EXPECT_EQ(prover_.Prove(Question(address)).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << address;
  }
}

TEST_F(TokenProverTest, IsUnavailableUntilItsPortIsKnown) {
  port_ = 0;
  EXPECT_TRUE(absl::IsUnavailable(prover_.Prove(Question("127.0.0.1:7070")).status()));
}

TEST_F(TokenProverTest, AListenerAtEveryAddressServesEachLoopbackAddress) {
  for (const char* host : {"0.0.0.0", "::", "localhost"}) {
    const TokenProver prover(kToken, host, port_);
    EXPECT_TRUE(prover.Prove(Question("127.0.0.1:7070")).ok()) << host;
    EXPECT_TRUE(prover.Prove(Question("[::1]:7070")).ok()) << host;
    EXPECT_FALSE(prover.Prove(Question("127.0.0.1:7071")).ok()) << host;
  }
}

TEST_F(TokenProverTest, ANonceHasALength) {
  v1::ProveRequest request = Question("");
  for (const std::size_t size : {0, 31, 129}) {
    request.set_nonce(std::string(size, 'n'));
    EXPECT_EQ(prover_.Prove(request).status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST_F(TokenProverTest, TakesProofsOverItsOwnChallengesOnly) {
  const std::string challenge = prover_.Prove(Question(""))->challenge();
  EXPECT_TRUE(prover_.IsOwn(challenge));
  EXPECT_TRUE(prover_.TakesHeader(ProofHeader(kToken, challenge)));
  EXPECT_FALSE(prover_.TakesHeader(ProofHeader("another-token", challenge)));
  EXPECT_FALSE(prover_.TakesHeader(ProofHeader(kToken, "made.up")));
  EXPECT_FALSE(prover_.TakesHeader("Bearer " + std::string(kToken)));
  EXPECT_FALSE(prover_.TakesHeader(""));
  EXPECT_NE(prover_.Prove(Question(""))->challenge(), challenge);
  const TokenProver restarted(kToken, "127.0.0.1", port_);
  EXPECT_FALSE(restarted.IsOwn(challenge));
  EXPECT_FALSE(restarted.TakesHeader(ProofHeader(kToken, challenge)));
}

TEST_F(TokenProverTest, ANewTokenTakesThePlaceOfTheOldOne) {
  const std::string challenge = prover_.Prove(Question(""))->challenge();
  prover_.ReplaceToken("the-next-token-of-it");
  EXPECT_FALSE(prover_.TakesHeader(ProofHeader(kToken, challenge)));
  EXPECT_TRUE(prover_.TakesHeader(ProofHeader("the-next-token-of-it", challenge)));
}

TEST_F(TokenProverTest, ProvesTheWelcomeOfOneHello) {
  EXPECT_EQ(prover_.ProveWelcome("nonce", "node"), WelcomeProof(kToken, "nonce", "node"));
}

}  // namespace
}  // namespace trainyard::controller
