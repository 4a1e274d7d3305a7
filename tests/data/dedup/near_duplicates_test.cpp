// Recall and precision on generated documents whose true similarities are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/data/dedup/text_dedup.h"

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using WordList = std::vector<uint32_t>;

WordList RandomWords(size_t count, std::mt19937* random) {
  WordList words(count);
  for (uint32_t& word : words) word = static_cast<uint32_t>((*random)() % 50000);
  return words;
}

std::string TextOf(const WordList& words) {
  std::string text;
  for (const uint32_t word : words) text += "w" + std::to_string(word) + " ";
  return text;
}

// Jaccard similarity of the sets of runs of `length` words.
double TrueSimilarity(const WordList& a, const WordList& b, int length) {
  const auto shingles = [length](const WordList& words) {
    std::set<WordList> set;
    for (size_t i = 0; i + static_cast<size_t>(length) <= words.size(); ++i) {
      set.insert(WordList(words.begin() + static_cast<ptrdiff_t>(i),
                          words.begin() + static_cast<ptrdiff_t>(i) + length));
    }
    return set;
  };
  const std::set<WordList> set_a = shingles(a);
  const std::set<WordList> set_b = shingles(b);
  size_t common = 0;
  for (const WordList& shingle : set_a) common += set_b.count(shingle);
  return static_cast<double>(common) / static_cast<double>(set_a.size() + set_b.size() - common);
}

// Changes words until the similarity is at most `similarity`.
WordList CopyWithEdits(const WordList& words, double similarity, int length, std::mt19937* random) {
  WordList copy = words;
  while (TrueSimilarity(words, copy, length) > similarity) {
    copy[(*random)() % copy.size()] = static_cast<uint32_t>((*random)() % 50000);
  }
  return copy;
}

bool HaveCommonKey(const std::vector<BandKey>& a, const std::vector<BandKey>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) return true;
  }
  return false;
}

DedupSettings ThirteenWords() {
  DedupSettings settings = *PresetSettings("near", std::nullopt, "");
  settings.shingle_length = 13;
  return settings;
}

class CandidateRecallTest : public ::testing::TestWithParam<int> {};

// The number of found pairs is within three standard deviations of the sum of their probabilities.
TEST_P(CandidateRecallTest, EqualsTheCandidateProbability) {
  const DedupSettings settings = ThirteenWords();
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  DocumentSigner signer(settings);
  double expected = 0;
  double variance = 0;
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const WordList base = RandomWords(300, &random);
    const WordList copy = CopyWithEdits(base, GetParam() / 100.0, 13, &random);
    const double probability =
        CandidateProbability(settings, TrueSimilarity(base, copy, settings.shingle_length));
    expected += probability;
    variance += probability * (1 - probability);
    found += HaveCommonKey(signer.Sign(TextOf(base)).keys, signer.Sign(TextOf(copy)).keys) ? 1 : 0;
  }
  EXPECT_NEAR(found, expected, 3 * std::sqrt(variance) + 0.5);
}

INSTANTIATE_TEST_SUITE_P(Similarities, CandidateRecallTest,
                         ::testing::Values(50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100));

// Documents 2 i and 2 i + 1 are a pair.
struct PairSet {
  std::vector<WordList> words;
  std::vector<std::string> texts;
};

// The similarities of the pairs are evenly distributed from 0.5 to 1.
PairSet MakePairs(int pairs) {
  std::mt19937 random(11);
  PairSet set;
  for (int i = 0; i < pairs; ++i) {
    set.words.push_back(RandomWords(300, &random));
    const double similarity = 0.5 + 0.5 * i / pairs;
    set.words.push_back(CopyWithEdits(set.words.back(), similarity, 13, &random));
  }
  for (const WordList& words : set.words) set.texts.push_back(TextOf(words));
  return set;
}

TEST(NearDuplicates, VerificationDropsOnlyLikeDocuments) {
  const PairSet set = MakePairs(1000);
  for (const bool components : {false, true}) {
    DedupSettings settings = ThirteenWords();
    settings.components = components;
    const absl::StatusOr<Decisions> decisions = Deduplicate(set.texts, settings);
    ASSERT_TRUE(decisions.ok()) << decisions.status();
    ASSERT_GT(decisions->dropped.size(), 300u);
    size_t right = 0;
    for (const DroppedDocument& dropped : decisions->dropped) {
      const double truth = TrueSimilarity(set.words[dropped.kept], set.words[dropped.document], 13);
      right += truth >= settings.threshold ? 1 : 0;
      EXPECT_NEAR(dropped.similarity, truth, 5 * StandardError(truth) + 0.01);
    }
    EXPECT_GE(static_cast<double>(right), 0.999 * static_cast<double>(decisions->dropped.size()));
  }
}

TEST(NearDuplicates, NearlyAllLikeDocumentsAreDropped) {
  const PairSet set = MakePairs(1000);
  const DedupSettings settings = ThirteenWords();
  const std::vector<uint64_t> numbers = DroppedNumbers(*Deduplicate(set.texts, settings));
  const std::set<uint64_t> dropped(numbers.begin(), numbers.end());
  double expected = 0;
  double variance = 0;
  int found = 0;
  for (size_t i = 0; i < set.words.size(); i += 2) {
    const double truth = TrueSimilarity(set.words[i], set.words[i + 1], 13);
    if (truth < settings.threshold) continue;
    const double probability = CandidateProbability(settings, truth);
    expected += probability;
    variance += probability * (1 - probability);
    found += dropped.count(i + 1) > 0 ? 1 : 0;
  }
  EXPECT_GT(expected, 300);
  EXPECT_NEAR(found, expected, 3 * std::sqrt(variance) + 0.5);
}

TEST(NearDuplicates, CopiesWithOtherCaseAndSpacesAreDropped) {
  const std::string text = "The train leaves the yard at night, and returns before dawn.";
  const std::vector<std::string> texts = {
      text, "the  train leaves\nthe yard at NIGHT and returns before dawn", text + " "};
  EXPECT_THAT(DroppedNumbers(*Deduplicate(texts, *PresetSettings("near", {}, ""))),
              ElementsAre(1, 2));
}

TEST(NearDuplicates, PrefixesAreJudgedByTheirLength) {
  std::mt19937 random(2);
  const WordList base = RandomWords(400, &random);
  WordList slightly_longer = base;
  WordList twice = base;
  for (const uint32_t word : RandomWords(20, &random)) slightly_longer.push_back(word);
  for (const uint32_t word : RandomWords(400, &random)) twice.push_back(word);
  const std::vector<std::string> texts = {TextOf(base), TextOf(slightly_longer), TextOf(twice)};
  EXPECT_THAT(DroppedNumbers(*Deduplicate(texts, ThirteenWords())), ElementsAre(1));
}

// Each version of a template differs from the previous one by a few words, so that the last ones
// have little in common with the first.
TEST(NearDuplicates, AFamilyOfVersionsIsNotJoinedGreedily) {
  std::mt19937 random(3);
  std::vector<WordList> versions = {RandomWords(300, &random)};
  for (int i = 1; i < 30; ++i) {
    versions.push_back(CopyWithEdits(versions.back(), 0.93, 13, &random));
  }
  std::vector<std::string> texts;
  for (const WordList& words : versions) texts.push_back(TextOf(words));
  DedupSettings settings = ThirteenWords();
  const Decisions greedy = *Deduplicate(texts, settings);
  for (const DroppedDocument& dropped : greedy.dropped) {
    EXPECT_GE(TrueSimilarity(versions[dropped.kept], versions[dropped.document], 13), 0.8);
  }
  EXPECT_GT(greedy.clusters, 3u);
  settings.components = true;
  const Decisions components = *Deduplicate(texts, settings);
  EXPECT_THAT(components.dropped, SizeIs(29));
  // The report shows the chain.
  EXPECT_LT(components.largest[0].lowest_similarity, 0.4);
}

TEST(NearDuplicates, EmptyDocumentsAreDuplicatesOfEachOtherOnly) {
  const std::vector<std::string> texts = {"", "one", "", "two", "one", "!"};
  for (const char* preset : {"near", "guide", "fineweb", "slimpajama", "exact"}) {
    EXPECT_THAT(DroppedNumbers(*Deduplicate(texts, *PresetSettings(preset, {}, ""))),
                ElementsAre(2, 4))
        << preset;
  }
}

TEST(NearDuplicates, DocumentsLikeReferencesAreDropped) {
  std::mt19937 random(4);
  const WordList reference = RandomWords(300, &random);
  const std::vector<std::string> texts = {TextOf(reference), TextOf(reference),
                                          TextOf(CopyWithEdits(reference, 0.95, 13, &random)),
                                          TextOf(RandomWords(300, &random))};
  EXPECT_THAT(DroppedNumbers(*Deduplicate(texts, ThirteenWords(), 2)), ElementsAre(2));
}

TEST(NearDuplicates, AHundredThousandEqualDocumentsAreDropped) {
  std::vector<std::string> texts(100000, "Please accept our cookies.");
  texts.push_back("Another document.");
  EXPECT_THAT(Deduplicate(texts, *PresetSettings("near", {}, ""))->dropped, SizeIs(99999));
}

}  // namespace
}  // namespace trainyard::data
