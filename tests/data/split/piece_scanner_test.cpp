#include "data/split/piece_scanner.h"

#include <gtest/gtest.h>

#include <string>

#include "data/split/scalar_split.h"
#include "tests/data/split/generated_texts.h"
#include "tests/data/split/piece_ends.h"

namespace trainyard::data {
namespace {

std::vector<uint32_t> ScalarPieceEnds(SplitRule rule, std::string_view text) {
  std::vector<uint32_t> ends;
  for (size_t end = 0; end < text.size();) {
    end = ScalarPieceEnd(rule, text, end);
    ends.push_back(static_cast<uint32_t>(end));
  }
  return ends;
}

TEST(PieceScannerTest, EqualsTheScalarSplitForGeneratedTexts) {
  for (uint64_t number = 0; number < 20000; ++number) {
    const std::string text = GeneratedText(number);
    for (const SplitRule rule : kAllRules) {
      ASSERT_EQ(PieceEnds(rule, text), ScalarPieceEnds(rule, text))
          << "text " << number << ", rule " << static_cast<int>(rule);
    }
  }
}

// Moves each transition over each offset of a window.
TEST(PieceScannerTest, EqualsTheScalarSplitAtEachOffset) {
  for (uint64_t number = 0; number < 200; ++number) {
    const std::string generated = GeneratedText(number);
    for (size_t offset = 0; offset < 70; ++offset) {
      const std::string text = std::string(offset, 'x') + generated;
      for (const SplitRule rule : kAllRules) {
        ASSERT_EQ(PieceEnds(rule, text), ScalarPieceEnds(rule, text))
            << "text " << number << " at " << offset << ", rule " << static_cast<int>(rule);
      }
    }
  }
}

TEST(PieceScannerTest, TheCapacityDoesNotChangeThePieces) {
  for (uint64_t number = 0; number < 500; ++number) {
    const std::string text = GeneratedText(number);
    for (const SplitRule rule : kAllRules) {
      const std::vector<uint32_t> ends = ScalarPieceEnds(rule, text);
      for (const size_t capacity : {1, 2, 3, 7, 64, 1000}) {
        ASSERT_EQ(PieceEnds(rule, text, capacity), ends) << "capacity " << capacity;
      }
    }
  }
}

TEST(PieceScannerTest, WritesAtMostTheCapacityAndReportsTheEnd) {
  PieceScanner scanner(SplitRule::kGpt2, "a b c d");
  uint32_t ends[3] = {};
  EXPECT_EQ(scanner.Next(ends, 2), 2u);
  EXPECT_EQ(ends[0], 1u);
  EXPECT_EQ(ends[1], 3u);
  EXPECT_EQ(ends[2], 0u);
  EXPECT_EQ(scanner.Next(ends, 3), 2u);
  EXPECT_EQ(ends[1], 7u);
  EXPECT_EQ(scanner.Next(ends, 3), 0u);
  EXPECT_EQ(scanner.Next(ends, 3), 0u);
}

}  // namespace
}  // namespace trainyard::data
