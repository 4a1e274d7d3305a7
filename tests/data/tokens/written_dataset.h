// A small data set for tests of its description.
#ifndef TRAINYARD_TESTS_DATA_TOKENS_WRITTEN_DATASET_H_
#define TRAINYARD_TESTS_DATA_TOKENS_WRITTEN_DATASET_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "data/tokens/dataset_description.h"
#include "data/tokens/token_packer.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

// Writes a split with one document for each list of ids.
inline SplitTotals WriteSplit(const std::string& directory, const std::string& split,
                              const Tokenizer& tokenizer, OutputFormat format,
                              const std::vector<std::vector<uint32_t>>& documents) {
  auto writer = TokenWriter::Create(directory, split, tokenizer, format);
  EXPECT_TRUE(writer.ok()) << writer.status();
  int64_t line = 0;
  for (const std::vector<uint32_t>& ids : documents) {
    TokenPacker packer(tokenizer.vocab_size());
    std::string packed;
    packer.Pack(ids, &packed);
    (*writer)->BeginDocument({"/in/" + split + ".jsonl", true, line++});
    EXPECT_TRUE((*writer)->Append(packed, 1).ok());
    EXPECT_TRUE((*writer)->EndDocument().ok());
    (*writer)->AddCounts(packer.counts());
  }
  const auto totals = (*writer)->Finish();
  EXPECT_TRUE(totals.ok()) << totals.status();
  return *totals;
}

// Writes two splits of three and one documents.
inline void WriteDataset(const std::string& directory, const Tokenizer& tokenizer,
                         OutputFormat format) {
  const SplitTotals train =
      WriteSplit(directory, "train", tokenizer, format, {{1, 2, 3}, {4}, {5, 6}});
  const SplitTotals val = WriteSplit(directory, "val", tokenizer, format, {{7, 8}});
  EXPECT_TRUE(WriteDescription(directory, format, tokenizer, train, val).ok());
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_TOKENS_WRITTEN_DATASET_H_
