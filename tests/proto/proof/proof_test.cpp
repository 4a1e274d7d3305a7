#include "proto/proof/proof.h"

#include <set>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(ProofTest, EveryPartOfAProofCounts) {
  const std::set<std::string> proofs = {ControllerProof("token", "nonce", "127.0.0.1:1"),
                                        ControllerProof("other", "nonce", "127.0.0.1:1"),
                                        ControllerProof("token", "other", "127.0.0.1:1"),
                                        ControllerProof("token", "nonce", "127.0.0.1:2"),
                                        WelcomeProof("token", "nonce", "127.0.0.1:1"),
                                        CallerProof("token", "nonce"),
                                        CallerProof("token", "nonce\n127.0.0.1:1")};
  EXPECT_EQ(proofs.size(), 7u) << "one proof could be used as another";
  EXPECT_EQ(ControllerProof("token", "nonce", ""), ControllerProof("token", "nonce", ""));
}

TEST(ProofTest, AHeaderHasTheChallengeAndTheProofButNotTheToken) {
  const std::string header = ProofHeader("token-of-the-controller", "nonce.signature");
  const CallerProofParts parts = ParseProofHeader(header);
  EXPECT_EQ(parts.challenge, "nonce.signature");
  EXPECT_EQ(parts.proof, CallerProof("token-of-the-controller", "nonce.signature"));
  EXPECT_EQ(header.find("token-of-the-controller"), std::string::npos);
  for (const char* other : {"", "Proof", "Proof nonce", "Bearer nonce:proof"}) {
    EXPECT_EQ(ParseProofHeader(other).proof, "") << other;
  }
}

TEST(ProofTest, EveryPartOfAHelloIsSigned) {
  const std::set<std::string> texts = {HelloText("c", "node", "incarnation", "nonce"),
                                       HelloText("d", "node", "incarnation", "nonce"),
                                       HelloText("c", "edon", "incarnation", "nonce"),
                                       HelloText("c", "node", "other", "nonce"),
                                       HelloText("c", "node", "incarnation", "other")};
  EXPECT_EQ(texts.size(), 5u);
}

}  // namespace
}  // namespace trainyard
