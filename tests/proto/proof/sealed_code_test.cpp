#include "proto/proof/sealed_code.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard {
namespace {

const std::string kToken(64, '7');
const std::string kSnapshot(64, 'a');
constexpr char kRequest[] = "nonce";

TEST(SealedCodeTest, OpensWhatWasSealed) {
  const std::string key = CodeKey(kToken, kSnapshot);
  const std::string pack(100'000, 'x');
  const auto sealed = SealCode(key, kRequest, pack);
  ASSERT_TRUE(sealed.has_value());
  EXPECT_EQ(sealed->find(std::string(32, 'x')), std::string::npos);
  EXPECT_EQ(OpenCode(key, kRequest, *sealed), pack);
  EXPECT_NE(SealCode(key, kRequest, pack), sealed) << "each pack has its own vector";
}

TEST(SealedCodeTest, DependsOnTokenSnapshotAndNonce) {
  const std::string key = CodeKey(kToken, kSnapshot);
  const auto sealed = SealCode(key, kRequest, "pack");
  ASSERT_TRUE(sealed.has_value());
  EXPECT_EQ(OpenCode(CodeKey(std::string(64, '8'), kSnapshot), kRequest, *sealed), std::nullopt);
  EXPECT_EQ(OpenCode(CodeKey(kToken, std::string(64, 'b')), kRequest, *sealed), std::nullopt);
  EXPECT_EQ(OpenCode(key, "other", *sealed), std::nullopt);
  EXPECT_NE(CodeProof(key, "one"), CodeProof(key, "two"));
}

TEST(SealedCodeTest, RefusesModifiedAndShortTexts) {
  const std::string key = CodeKey(kToken, kSnapshot);
  const auto sealed = SealCode(key, kRequest, "pack");
  ASSERT_TRUE(sealed.has_value());
  for (std::size_t index = 0; index < sealed->size(); ++index) {
    std::string modified = *sealed;
    modified[index] ^= 1;
    EXPECT_EQ(OpenCode(key, kRequest, modified), std::nullopt) << index;
    EXPECT_EQ(OpenCode(key, kRequest, sealed->substr(0, index)), std::nullopt) << index;
  }
  EXPECT_EQ(OpenCode("short key", kRequest, *sealed), std::nullopt);
  EXPECT_EQ(SealCode("short key", kRequest, "pack"), std::nullopt);
}

TEST(SealedCodeTest, MakesDifferentNonces) {
  EXPECT_EQ(CodeNonce().size(), 32U);
  EXPECT_NE(CodeNonce(), CodeNonce());
}

}  // namespace
}  // namespace trainyard
