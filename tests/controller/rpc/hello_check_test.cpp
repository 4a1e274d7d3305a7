#include "controller/rpc/hello_check.h"

#include <atomic>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "proto/proof/node_key.h"
#include "proto/proof/proof.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class HelloCheckTest : public testing::Test {
 protected:
  std::string Challenge() const {
    v1::ProveRequest request;
    request.set_nonce(NewSecret());
    return prover_.Prove(request)->challenge();
  }
  v1::Hello Signed(const std::string& challenge) const {
    v1::Hello hello;
    hello.set_node_id("node");
    hello.set_incarnation("incarnation");
    hello.set_nonce("nonce");
    hello.set_challenge(challenge);
    hello.set_node_key(PublicKeyOf(secret_));
    hello.set_signature(
        trainyard::SignatureOf(secret_, HelloText(challenge, "node", "incarnation", "nonce")));
    return hello;
  }

  const std::string secret_ = std::string(64, '5');
  const std::atomic<int> port_ = 7070;
  const TokenProver prover_{"token-of-the-controller", "127.0.0.1", port_};
};

TEST_F(HelloCheckTest, ASignatureOverAChallengeOfThisControllerIsTaken) {
  v1::Hello hello = Signed(Challenge());
  hello.set_node_secret("a hash that it did not prove");
  EXPECT_TRUE(VerifyHello(prover_, /*is_private=*/false, hello).ok());
  EXPECT_EQ(hello.node_key(), PublicKeyOf(secret_));
  EXPECT_EQ(hello.node_secret(), "");
}

TEST_F(HelloCheckTest, AChallengeOfAnotherProcessIsTriedAgain) {
  const TokenProver earlier("token-of-the-controller", "127.0.0.1", port_);
  v1::ProveRequest request;
  request.set_nonce(NewSecret());
  v1::Hello hello = Signed(earlier.Prove(request)->challenge());
  EXPECT_TRUE(absl::IsUnavailable(VerifyHello(prover_, true, hello)));
}

TEST_F(HelloCheckTest, AWrongSignatureIsRefused) {
  for (const auto& change :
       {+[](v1::Hello& hello) { hello.set_node_id("other"); },
        +[](v1::Hello& hello) { hello.set_incarnation("other"); },
        +[](v1::Hello& hello) { hello.set_nonce("other"); },
        +[](v1::Hello& hello) { hello.clear_signature(); },
        +[](v1::Hello& hello) { hello.clear_node_key(); },
        +[](v1::Hello& hello) { hello.set_node_key(PublicKeyOf(std::string(64, '6'))); }}) {
    v1::Hello hello = Signed(Challenge());
    change(hello);
    EXPECT_TRUE(absl::IsPermissionDenied(VerifyHello(prover_, true, hello)))
        << hello.ShortDebugString();
  }
}

TEST_F(HelloCheckTest, AnOlderReleaseIsAdmittedOnAPrivateConnectionOnly) {
  v1::Hello hello;
  hello.set_worker_version("0.0.9");
  hello.set_node_secret(secret_);
  v1::Hello over_network = hello;
  EXPECT_TRUE(VerifyHello(prover_, /*is_private=*/true, hello).ok());
  EXPECT_EQ(hello.node_secret(), HashOf(secret_));
  EXPECT_EQ(hello.node_key(), PublicKeyOf(secret_));
  const absl::Status refused = VerifyHello(prover_, /*is_private=*/false, over_network);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("0.0.9"));
  EXPECT_EQ(over_network.node_secret(), HashOf(secret_)) << "nothing keeps the secret";
}

}  // namespace
}  // namespace trainyard::controller
