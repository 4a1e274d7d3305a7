#include "data/dedup/min_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "data/dedup/document_signer.h"

namespace trainyard::data {
namespace {

using ::testing::Each;

std::vector<uint32_t> Shingles(const std::vector<uint64_t>& elements, int length) {
  std::vector<uint32_t> shingles;
  HashShingles(elements, length, &shingles);
  return shingles;
}

TEST(MinHash, ShinglesDependOnlyOnTheirElements) {
  const std::vector<uint64_t> elements = {11, 22, 33, 44, 55, 66, 77};
  const std::vector<uint32_t> shingles = Shingles(elements, 3);
  ASSERT_EQ(shingles.size(), 5u);
  for (size_t i = 0; i < shingles.size(); ++i) {
    EXPECT_EQ(shingles[i], Shingles({elements[i], elements[i + 1], elements[i + 2]}, 3)[0]);
  }
  EXPECT_NE(Shingles({11, 22, 33}, 3), Shingles({33, 22, 11}, 3));
}

TEST(MinHash, FewElementsGiveOneShingle) {
  EXPECT_EQ(Shingles({1, 2}, 5).size(), 1u);
  EXPECT_EQ(Shingles({1, 2, 3, 4, 5}, 5).size(), 1u);
  EXPECT_EQ(Shingles({1, 2, 3, 4, 5, 6}, 5).size(), 2u);
  EXPECT_NE(Shingles({1, 2}, 5), Shingles({1, 3}, 5));
}

TEST(MinHash, VectorInstructionsDoNotChangeTheResult) {
  std::mt19937 random(7);
  for (const size_t count : {1, 2, 63, 1000}) {
    std::vector<uint32_t> shingles(count);
    for (uint32_t& shingle : shingles) shingle = static_cast<uint32_t>(random());
    EXPECT_EQ(MinHashesOf(shingles), PortableMinHashesOf(shingles));
  }
}

// Signatures are compared with those of earlier runs only within a run, but a change of them
// changes the results of every data set.
TEST(MinHash, TheFunctionsStayTheSame) {
  const Signature signature = MinHashesOf({1, 2, 3});
  uint64_t sum = 0;
  for (const uint32_t value : signature) sum = sum * 1000003 + value;
  EXPECT_EQ(sum, 13575491550877210158u);
}

TEST(MinHash, EstimatesTheJaccardSimilarity) {
  std::mt19937 random(3);
  for (const int common : {100, 500, 900}) {
    double sum = 0;
    constexpr int kTrials = 100;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<uint32_t> a;
      std::vector<uint32_t> b;
      for (int i = 0; i < 1000; ++i) {
        const auto value = static_cast<uint32_t>(random());
        a.push_back(value);
        b.push_back(i < common ? value : static_cast<uint32_t>(random()));
      }
      sum += EstimateSimilarity(MinHashesOf(a), MinHashesOf(b));
    }
    const double truth = common / (2000.0 - common);
    EXPECT_NEAR(sum / kTrials, truth, 4 * StandardError(truth) / std::sqrt(kTrials));
  }
}

TEST(MinHash, JaccardSimilarityIsExact) {
  EXPECT_EQ(JaccardSimilarity({1, 2, 3}, {2, 3, 4}), 0.5);
  EXPECT_EQ(JaccardSimilarity({1}, {1}), 1);
  EXPECT_EQ(JaccardSimilarity({1, 5}, {2}), 0);
  EXPECT_EQ(JaccardSimilarity({}, {2}), 0);
}

TEST(MinHash, BandsWithEqualValuesHaveDifferentKeys) {
  Signature signature;
  signature.fill(5);
  const std::vector<BandKey> keys = BandKeysOf(signature, 16, 8);
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_NE(keys[i], keys[0]);
}

TEST(DocumentSigner, EqualWordsGiveEqualSignatures) {
  DocumentSigner signer(*PresetSettings("near", std::nullopt, ""));
  const SignedDocument a = signer.Sign("The train leaves the yard at night.");
  EXPECT_EQ(a.signature, signer.Sign("the  TRAIN leaves\nthe yard at night").signature);
  EXPECT_NE(a.signature, signer.Sign("the train leaves the yard at noon").signature);
}

TEST(DocumentSigner, ShortAndEmptyDocumentsAreOnlyLikeEqualOnes) {
  for (const char* preset : {"near", "guide", "fineweb", "slimpajama", "exact"}) {
    DocumentSigner signer(*PresetSettings(preset, std::nullopt, ""));
    const std::vector<std::string> texts = {"", "!!!", "???", "one", "two", "one two"};
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(signer.Sign(texts[i]).keys, signer.Sign(texts[i]).keys) << preset;
      for (size_t j = 0; j < i; ++j) {
        EXPECT_NE(signer.Sign(texts[i]).keys, signer.Sign(texts[j]).keys)
            << preset << ": " << texts[i] << ", " << texts[j];
      }
    }
    EXPECT_THAT(signer.Sign("").keys, ::testing::Not(Each(BandKey()))) << preset;
  }
}

TEST(DocumentSigner, ExactComparesTheNormalizedText) {
  DocumentSigner signer(*PresetSettings("exact", std::nullopt, ""));
  EXPECT_EQ(signer.Sign(" One  two.\n").keys, signer.Sign("one two.").keys);
  EXPECT_NE(signer.Sign("one two.").keys, signer.Sign("one two").keys);
}

TEST(DocumentSigner, ShinglesAreASortedSet) {
  DocumentSigner signer(*PresetSettings("near", std::nullopt, ""));
  const std::vector<uint32_t> shingles = signer.ShinglesOf("a b c d e a b c d e a b c d e");
  EXPECT_EQ(shingles.size(), 5u);
  EXPECT_TRUE(std::is_sorted(shingles.begin(), shingles.end()));
}

}  // namespace
}  // namespace trainyard::data
