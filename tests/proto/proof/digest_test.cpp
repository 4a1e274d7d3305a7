#include "proto/proof/digest.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(DigestTest, HashesAreThoseOfTheStandards) {
  // The values are from FIPS 180-4 and from RFC 4231, test case 2.
  EXPECT_EQ(HashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashOf(""), "");
  EXPECT_EQ(KeyedHashOf("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(DigestTest, OnlyEqualSecretsAreTheSame) {
  EXPECT_TRUE(SameSecret("a", "a"));
  EXPECT_FALSE(SameSecret("a", "b"));
  EXPECT_FALSE(SameSecret("a", "aa"));
}

}  // namespace
}  // namespace trainyard
