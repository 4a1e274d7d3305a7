#include "data/dedup/sha1.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::data {
namespace {

TEST(Sha1, HashesAreTheFirstBytes) {
  EXPECT_EQ(Sha1Prefix(""), 0xeea339dau);     // da39a3ee...
  EXPECT_EQ(Sha1Prefix("abc"), 0x363e99a9u);  // a9993e36...
  // FIPS 180's example of two blocks: 84983e44...
  EXPECT_EQ(Sha1Prefix("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 0x443e9884u);
  // A million letters: 34aa973c...
  EXPECT_EQ(Sha1Prefix(std::string(1000000, 'a')), 0x3c97aa34u);
}

TEST(Sha1, InstructionsForShaDoNotChangeTheResult) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(Sha1Prefix(text), PortableSha1Prefix(text)) << text.size() << " bytes";
    text += static_cast<char>(i * 37);
  }
}

}  // namespace
}  // namespace trainyard::data
