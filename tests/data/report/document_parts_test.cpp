#include "data/report/document_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::atomic<bool> kUncancelled = false;

// "1@0:0-4" for tokens 0 to 3 of document 1, which begins at token 0.
std::string PartsText(const RangeDocuments& documents) {
  std::string text;
  for (const DocumentPart& part : documents.parts) {
    text += (text.empty() ? "" : " ") + std::to_string(part.number) + "@" +
            std::to_string(part.first_token) + ":" + std::to_string(part.tokens.begin) + "-" +
            std::to_string(part.tokens.end);
  }
  return text;
}

class DocumentPartsTest : public testing::TestWithParam<OutputFormat> {
 protected:
  // Three documents for training, at tokens 0 to 3, 4 to 5 and 6 to 8.
  DocumentPartsTest() {
    WriteDataset(files_.path(), VocabOnly(50257, "gpt2"), GetParam());
    split_ = ReadDescription(files_.path())->splits[0];
  }

  absl::StatusOr<std::vector<RangeDocuments>> Find(const std::vector<TokenRange>& ranges) const {
    return FindDocumentParts(files_.path(), split_, ranges, kUncancelled);
  }

  TextDirectory files_;
  SplitDescription split_;
};

INSTANTIATE_TEST_SUITE_P(Formats, DocumentPartsTest,
                         testing::Values(OutputFormat::kTrainyard, OutputFormat::kMegatron,
                                         OutputFormat::kNanogpt, OutputFormat::kLlmc));

TEST_P(DocumentPartsTest, RangesAreDividedAtTheBeginningsOfDocuments) {
  const auto found = Find({{5, 8}, {0, 9}, {4, 6}, {3, 5}, {0, 1}, {8, 9}, {4, 6}});
  ASSERT_TRUE(found.ok()) << found.status();
  std::vector<std::string> texts;
  for (const RangeDocuments& documents : *found) texts.push_back(PartsText(documents));
  EXPECT_THAT(texts, ElementsAre("2@4:5-6 3@6:6-8", "1@0:0-4 2@4:4-6 3@6:6-9", "2@4:4-6",
                                 "1@0:3-4 2@4:4-5", "1@0:0-1", "3@6:8-9", "2@4:4-6"));
}

// Compares with the document of each token.
TEST_P(DocumentPartsTest, EveryRangeIsCoveredByItsParts) {
  for (int64_t begin = 0; begin < 9; ++begin) {
    for (int64_t end = begin + 1; end <= 9; ++end) {
      const auto found = Find({{begin, end}});
      ASSERT_TRUE(found.ok()) << found.status();
      int64_t next = begin;
      for (const DocumentPart& part : (*found)[0].parts) {
        EXPECT_EQ(part.tokens.begin, next);
        EXPECT_LE(part.first_token, next);
        next = part.tokens.end;
        EXPECT_EQ(part.number, part.tokens.begin < 4 ? 1 : part.tokens.begin < 6 ? 2 : 3);
      }
      EXPECT_EQ(next, end);
    }
  }
}

TEST_P(DocumentPartsTest, ReadsTheIdsOfARange) {
  const bool begins = GetParam() == OutputFormat::kLlmc;
  EXPECT_THAT(*ReadTokenRange(files_.path(), split_, {4, 7}),
              begins ? ElementsAre(50256, 4, 50256) : ElementsAre(4, 50256, 5));
}

TEST_P(DocumentPartsTest, RefusesRangesOutsideTheSplit) {
  for (const TokenRange& range : {TokenRange{-1, 2}, {3, 3}, {8, 10}}) {
    EXPECT_EQ(Find({{range}}).status().code(), absl::StatusCode::kOutOfRange);
  }
}

TEST_P(DocumentPartsTest, ChangedFilesAreErrors) {
  const std::string path = files_ / split_.files[0].name;
  const std::string sound = ReadFile(path);
  std::string changed = sound;
  changed[changed.size() - 4] ^= 1;
  WriteFile(path, changed);
  EXPECT_THAT(Find({{0, 2}}).status().message(), HasSubstr("its checksum is"));
  WriteFile(path, sound + "ab");
  EXPECT_THAT(Find({{0, 2}}).status().message(), HasSubstr("so the file has changed"));
  std::filesystem::remove(path);
  EXPECT_EQ(Find({{0, 2}}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadTokenRange(files_.path(), split_, {0, 2}).ok());
}

TEST(DocumentPartsLimitTest, ManyShortDocumentsAreCounted) {
  const TextDirectory files;
  const VocabOnly tokenizer(50257, "gpt2");
  const std::vector<std::vector<uint32_t>> documents(150, {7});
  WriteSplit(files.path(), "train", tokenizer, OutputFormat::kTrainyard, documents);
  const auto split = ReadDescription(files.path())->splits[0];
  const auto found = FindDocumentParts(files.path(), split, {{1, 300}}, kUncancelled);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].parts.size(), 100u);
  EXPECT_EQ((*found)[0].parts[99].tokens.end, 200);
  EXPECT_EQ((*found)[0].others, 50);
}

TEST(DocumentPartsLimitTest, CanBeCancelled) {
  const TextDirectory files;
  WriteDataset(files.path(), VocabOnly(50257, "gpt2"), OutputFormat::kTrainyard);
  const std::atomic<bool> cancelled = true;
  const auto split = ReadDescription(files.path())->splits[0];
  EXPECT_EQ(FindDocumentParts(files.path(), split, {{0, 1}}, cancelled).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::data
