#include "trainer/checkpoint/chunk_reader.h"

#include <gtest/gtest.h>

#include <random>

namespace trainyard::trainer {
namespace {

// Expands all rows to their runs, in order.
std::vector<ElementRun> RunsOf(const std::vector<RunRows>& all) {
  std::vector<ElementRun> runs;
  for (const RunRows& rows : all) {
    for (int64_t row = 0; row < rows.rows; ++row) {
      runs.push_back({rows.first.from + row * rows.from_stride,
                      rows.first.to + row * rows.to_stride, rows.first.elements});
    }
  }
  return runs;
}

void ExpectSameRuns(const std::vector<ElementRun>& a, const std::vector<ElementRun>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].from, b[i].from);
    EXPECT_EQ(a[i].to, b[i].to);
    EXPECT_EQ(a[i].elements, b[i].elements);
  }
}

// Reads a separately stored box, columns 4 to 7 of a matrix with 10 columns. A block of the file
// ends within a row of the box.
TEST(ChunkReaderTest, RunsOfAMatrixAreFewRows) {
  const std::vector<ElementRun> runs = {
      {2, 6, 2}, {4, 14, 4}, {8, 24, 4}, {12, 34, 4}, {16, 44, 1}};
  const std::vector<RunRows> rows = RowsOf(runs);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].rows, 3);
  EXPECT_EQ(rows[1].from_stride, 4);
  EXPECT_EQ(rows[1].to_stride, 10);
  ExpectSameRuns(RunsOf(rows), runs);
}

TEST(ChunkReaderTest, RowsAreTheRunsThatTheyCameFrom) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<ElementRun> runs;
    int64_t from = 0, to = 0;
    for (uint32_t i = 0; i < random() % 12; ++i) {
      const int64_t elements = 1 + random() % 2;
      runs.push_back({from, to, elements});
      from += elements + random() % 2;
      to += elements + random() % 2;
    }
    ExpectSameRuns(RunsOf(RowsOf(runs)), runs);
  }
}

}  // namespace
}  // namespace trainyard::trainer
