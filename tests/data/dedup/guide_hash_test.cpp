// The expected values were computed with datasketch's formulas in Python 3.11 with numpy 1.24 and
// hashlib.
#include "data/dedup/guide_hash.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "data/dedup/document_signer.h"

namespace trainyard::data {
namespace {

uint64_t SumOf(const auto& values) {
  uint64_t sum = 0;
  for (const uint64_t value : values) sum = sum * 1000003 + value;
  return sum;
}

TEST(GuideHash, VectorInstructionsDoNotChangeTheResult) {
  const GuideMinHash functions;
  std::mt19937 random(5);
  // 0 and the largest number reach both ends of the remainder.
  std::vector<uint32_t> hashes = {0, 0xFFFFFFFF};
  for (int i = 0; i < 2000; ++i) hashes.push_back(static_cast<uint32_t>(random()));
  EXPECT_EQ(functions.Of(hashes), functions.PortableOf(hashes));
  for (const uint32_t hash : hashes) EXPECT_EQ(functions.Of({hash}), functions.PortableOf({hash}));
}

TEST(GuideHash, SignatureEqualsDatasketch) {
  DocumentSigner signer(*PresetSettings("guide", std::nullopt, ""));
  const Signature signature =
      signer
          .Sign(
              "The quick brown fox jumps over the lazy dog while the small red train leaves the "
              "yard at Night and returns  before dawn")
          .signature;
  EXPECT_EQ(signature[0], 808058139u);
  EXPECT_EQ(signature[1], 271595848u);
  EXPECT_EQ(signature[127], 108230031u);
  EXPECT_EQ(SumOf(signature), 0x81bf1f0b8f232ddbu);
}

// Generates the documents of the Python reference.
class Documents {
 public:
  std::vector<std::string> Make() {
    for (int i = 0; i < 400; ++i) documents_.push_back(i % 4 == 0 ? NewDocument() : Copy());
    std::vector<std::string> texts;
    for (const std::vector<uint64_t>& words : documents_) {
      std::string text;
      for (const uint64_t word : words) text += (text.empty() ? "w" : " w") + std::to_string(word);
      texts.push_back(text);
    }
    return texts;
  }

 private:
  uint64_t Random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

  std::vector<uint64_t> NewDocument() {
    std::vector<uint64_t> words(60 + Random() % 60);
    for (uint64_t& word : words) word = Random() % 500;
    return words;
  }

  std::vector<uint64_t> Copy() {
    std::vector<uint64_t> words = documents_[Random() % documents_.size()];
    const uint64_t edits = Random() % 4;
    for (uint64_t edit = 0; edit < edits; ++edit) {
      const uint64_t word = Random() % 500;
      words[Random() % words.size()] = word;
    }
    return words;
  }

  uint64_t state_ = 12345;
  std::vector<std::vector<uint64_t>> documents_;
};

// datasketch's loop: a document is inserted unless the query finds an inserted one.
TEST(GuideHash, KeptDocumentsEqualThoseOfDatasketch) {
  DocumentSigner signer(*PresetSettings("guide", std::nullopt, ""));
  std::set<BandKey> inserted;
  std::vector<uint64_t> kept;
  const std::vector<std::string> texts = Documents().Make();
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<BandKey> keys = signer.Sign(texts[i]).keys;
    bool found = false;
    for (const BandKey& key : keys) found |= inserted.count(key) > 0;
    if (found) continue;
    inserted.insert(keys.begin(), keys.end());
    kept.push_back(i);
  }
  EXPECT_EQ(kept.size(), 313u);
  EXPECT_EQ(SumOf(kept), 0x63c95d2b0c47371bu);
}

}  // namespace
}  // namespace trainyard::data
