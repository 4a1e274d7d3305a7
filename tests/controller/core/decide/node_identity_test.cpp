#include "controller/core/decide/node_identity.h"

#include <gtest/gtest.h>

#include "controller/core/event_log/snapshot.h"
#include "proto/proof/proof.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class NodeIdentityTest : public testing::Test {
 protected:
  NodeIdentityTest() { cluster_.AddNode("a", 2); }

  v1::Hello OlderHello(const std::string& secret_hash) const {
    v1::Hello hello = cluster_.HelloOf("a");
    hello.set_node_secret(secret_hash);
    return hello;
  }
  // Returns the Hello of a worker whose secret has the hash `secret_hash`.
  v1::Hello SignedHello(const std::string& key, const std::string& secret_hash) const {
    v1::Hello hello = cluster_.HelloOf("a");
    hello.set_challenge("challenge");
    hello.set_nonce("nonce");
    hello.set_node_key(key);
    hello.set_secret_proof(SecretProof(
        secret_hash, HelloText("challenge", hello.node_id(), hello.incarnation(), "nonce")));
    return hello;
  }
  bool IsRefused(const v1::Hello& hello) {
    return cluster_.Try(AttachWorker{hello}).code() == absl::StatusCode::kPermissionDenied;
  }

  TestCluster cluster_;
};

TEST_F(NodeIdentityTest, TheFirstHelloBindsAndLaterOnesMustMatch) {
  const v1::Hello first = SignedHello("key", "hash");
  EXPECT_EQ(cluster_.Do(AttachWorker{first}).size(), 1u);
  EXPECT_EQ(cluster_.state.nodes.at("a").binding.key, "key");
  EXPECT_TRUE(cluster_.Do(AttachWorker{first}).empty()) << "nothing new";
  EXPECT_TRUE(IsRefused(SignedHello("another", "hash")));
  EXPECT_TRUE(IsRefused(OlderHello("hash"))) << "without a key";
  EXPECT_TRUE(IsRefused(OlderHello("")));
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(restored.nodes.at("a").binding.key, "key");
}

TEST_F(NodeIdentityTest, AHashOfAnOlderReleaseIsProvenThenReplacedByTheKey) {
  cluster_.Do(AttachWorker{OlderHello("hash")});
  EXPECT_EQ(cluster_.state.nodes.at("a").binding.secret_hash, "hash");
  EXPECT_FALSE(IsRefused(OlderHello("hash")));
  for (const char* other : {"", "two"}) EXPECT_TRUE(IsRefused(OlderHello(other)));
  EXPECT_TRUE(IsRefused(SignedHello("key", "two"))) << "it does not know the secret";
  v1::Hello replayed = SignedHello("key", "hash");
  replayed.set_nonce("another");
  EXPECT_TRUE(IsRefused(replayed));
  cluster_.Do(AttachWorker{SignedHello("key", "hash")});
  EXPECT_EQ(cluster_.state.nodes.at("a").binding.key, "key");
  EXPECT_TRUE(IsRefused(OlderHello("hash"))) << "the key counts from now on";
}

TEST_F(NodeIdentityTest, WithoutAChallengeAHashIsNotProven) {
  cluster_.Do(AttachWorker{OlderHello("hash")});
  v1::Hello hello = SignedHello("key", "hash");
  hello.clear_challenge();
  EXPECT_TRUE(IsRefused(hello));
}

TEST(AddsIdentityTest, OnlyAnotherKeyOrASecretThatIsSentIsNews) {
  NodeBinding bound;
  bound.key = "key";
  bound.secret_hash = "hash";
  const auto adds = [&](const std::string& key, const std::string& secret_hash) {
    v1::NodeJoined joined;
    joined.set_node_key(key);
    joined.set_secret_hash(secret_hash);
    return AddsIdentity(bound, joined);
  };
  EXPECT_FALSE(adds("key", "hash"));
  EXPECT_FALSE(adds("key", "")) << "a newer worker sends no hash";
  EXPECT_TRUE(adds("key", "another"));
  EXPECT_TRUE(adds("another", "hash"));
}

}  // namespace
}  // namespace trainyard::controller
