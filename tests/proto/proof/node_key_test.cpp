#include "proto/proof/node_key.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

// The secret key of RFC 8032, section 7.1, test 1. The test signs the empty message.
constexpr char kSecret[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
constexpr char kPublic[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
constexpr char kSignature[] =
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b4"
    "6b"
    "d25bf5f0595bbe24655141438e7a100b";

TEST(NodeKeyTest, MatchesTheStandard) {
  EXPECT_EQ(PublicKeyOf(kSecret), kPublic);
  EXPECT_EQ(SignatureOf(kSecret, ""), kSignature);
  EXPECT_TRUE(IsSignature(kPublic, "", kSignature));
}

TEST(NodeKeyTest, AnyOtherTextKeyOrSignatureIsRefused) {
  const std::string signature = SignatureOf(kSecret, "hello");
  EXPECT_TRUE(IsSignature(kPublic, "hello", signature));
  EXPECT_FALSE(IsSignature(kPublic, "hallo", signature));
  EXPECT_FALSE(IsSignature(PublicKeyOf(std::string(64, 'a')), "hello", signature));
  std::string changed = signature;
  changed[0] = changed[0] == '0' ? '1' : '0';
  EXPECT_FALSE(IsSignature(kPublic, "hello", changed));
}

TEST(NodeKeyTest, TextThatIsNoKeyIsRefused) {
  for (const std::string& text :
       {std::string(), std::string(63, 'a'), std::string(64, 'x'), std::string(66, 'a')}) {
    EXPECT_EQ(PublicKeyOf(text), "");
    EXPECT_EQ(SignatureOf(text, "hello"), "");
    EXPECT_FALSE(IsSignature(text, "hello", SignatureOf(kSecret, "hello")));
    EXPECT_FALSE(IsSignature(kPublic, "hello", text));
  }
}

}  // namespace
}  // namespace trainyard
