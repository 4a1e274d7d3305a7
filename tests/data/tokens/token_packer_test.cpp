#include "data/tokens/token_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

TEST(TokenPackerTest, TheVocabularyDeterminesTheSize) {
  EXPECT_EQ(BytesPerToken(65536), 2);
  EXPECT_EQ(BytesPerToken(65537), 4);
}

TEST(TokenPackerTest, AppendsLittleEndianIdsAndCountsThem) {
  TokenPacker packer(65536);
  std::string packed = "x";
  packer.Pack({1, 65535}, &packed);
  packer.Pack({1}, &packed);
  EXPECT_EQ(packed, std::string("x\1\0\xFF\xFF\1\0", 7));
  EXPECT_EQ(packer.counts()[1], 2);
  EXPECT_EQ(packer.counts()[65535], 1);
  EXPECT_EQ(packer.counts()[0], 0);
}

TEST(TokenPackerTest, UsesFourBytesForALargeVocabulary) {
  TokenPacker packer(70000);
  std::string packed;
  packer.Pack({65538}, &packed);
  EXPECT_EQ(packed, std::string("\2\0\1\0", 4));
  EXPECT_THAT(packer.counts(), testing::SizeIs(70000));
}

}  // namespace
}  // namespace trainyard::data
