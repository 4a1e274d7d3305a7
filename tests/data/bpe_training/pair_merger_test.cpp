#include "data/bpe_training/pair_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;

// The words' positions and the lists of the queue are memory that training needs per occurrence of
// a pair, unless a word is queued once.
TEST(PairMergerTest, QueuesAWordOncePerPair) {
  WordList words;
  ASSERT_TRUE(words.Add("xabyxabyxaby", 5));
  PairCounts counts;
  MergeQueue queue;
  PairMerger merger(std::numeric_limits<uint64_t>::max(), &words, &counts, &queue);
  for (uint32_t id = 0; id < 256; ++id) merger.SetLength(id, 1);
  constexpr uint32_t kMerged = 256;
  merger.SetLength(kMerged, 2);
  const std::vector<uint32_t> positions = {0};
  merger.ReplaceInWords(MakePair('a', 'b'), kMerged, positions);
  ASSERT_TRUE(counts.MakeSpace(merger.PairsToUpdate()));
  merger.UpdateCounts();
  for (const SymbolPair pair : {MakePair('x', kMerged), MakePair(kMerged, 'y')}) {
    const std::optional<QueuedPair> entry = queue.Pop();
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->pair, pair);
    EXPECT_EQ(entry->count, 15);
    EXPECT_THAT(entry->words.all(), ElementsAre(0));
  }
  EXPECT_FALSE(queue.Pop().has_value());
}

}  // namespace
}  // namespace trainyard::data
