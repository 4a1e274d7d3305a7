// Compares the pieces of the scanner and of the scalar split with expected ones.
#ifndef TRAINYARD_TESTS_DATA_SPLIT_EXPECT_PIECES_H_
#define TRAINYARD_TESTS_DATA_SPLIT_EXPECT_PIECES_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "data/split/scalar_split.h"
#include "tests/data/split/piece_ends.h"

namespace trainyard::data {

using Pieces = std::vector<std::string>;

inline Pieces ScannedPieces(SplitRule rule, std::string_view text) {
  Pieces pieces;
  size_t begin = 0;
  for (const uint32_t end : PieceEnds(rule, text)) {
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

inline Pieces ScalarPieces(SplitRule rule, std::string_view text) {
  Pieces pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = ScalarPieceEnd(rule, text, begin);
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

inline void ExpectPieces(SplitRule rule, const Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  EXPECT_EQ(ScannedPieces(rule, text), pieces);
  EXPECT_EQ(ScalarPieces(rule, text), pieces);
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_SPLIT_EXPECT_PIECES_H_
