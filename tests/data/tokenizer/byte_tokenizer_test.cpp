#include "data/tokenizer/byte_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> IdsOf(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<uint32_t> ids;
  tokenizer.Encode(text, &ids);
  return ids;
}

TEST(ByteTokenizerTest, IdsAreBytes) {
  const auto tokenizer = MakeByteTokenizer();
  EXPECT_THAT(IdsOf(*tokenizer, "a\xC3\xA9"), ElementsAre(97, 195, 169));
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(tokenizer->Decode(IdsOf(*tokenizer, all)), all);
  EXPECT_EQ(tokenizer->Decode({97, tokenizer->end_of_document(), 98}), "ab");
  EXPECT_EQ(tokenizer->vocab_size(), 257);
  EXPECT_EQ(tokenizer->end_of_document(), 256u);
  EXPECT_EQ(tokenizer->kind(), "byte");
  EXPECT_TRUE(tokenizer->files().empty());
}

}  // namespace
}  // namespace trainyard::data
