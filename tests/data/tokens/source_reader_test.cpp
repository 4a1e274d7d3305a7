#include "data/tokens/source_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "data/tokens/source_writer.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class SourceReaderTest : public testing::Test {
 protected:
  // Writes train.sources. Each document has a place and a number of tokens.
  void Write(const std::vector<std::pair<SourcePlace, int64_t>>& documents) {
    std::filesystem::remove(path_);
    auto writer = SourceWriter::Create(files_.path(), "train");
    ASSERT_TRUE(writer.ok()) << writer.status();
    split_ = {};
    split_.split = "train";
    for (const auto& [place, tokens] : documents) {
      ASSERT_TRUE((*writer)->Add(place, tokens).ok());
      split_.tokens += tokens;
      ++split_.documents;
    }
    const auto facts = (*writer)->Finish();
    ASSERT_TRUE(facts.ok()) << facts.status();
    EXPECT_EQ(facts->bytes, static_cast<int64_t>(std::filesystem::file_size(path_)));
    split_.files = {*facts};
    documents_ = documents;
  }

  auto Open() const { return SourceReader::Open(files_.path(), split_); }

  // Reads all documents. Returns the first error.
  absl::Status ReadAll() const {
    auto reader = Open();
    if (!reader.ok()) return reader.status();
    int64_t token = 0;
    for (const auto& [place, tokens] : documents_) {
      for (const int64_t at : {token, token + tokens - 1}) {
        const auto document = (*reader)->At(at);
        if (!document.ok()) return document.status();
        EXPECT_EQ(document->place, place);
        EXPECT_EQ(document->first_token, token);
        EXPECT_EQ(document->tokens, tokens);
      }
      token += tokens;
    }
    return absl::OkStatus();
  }

  // Reads a document of the first and one of the last group.
  absl::Status ReadEnds() const {
    auto reader = Open();
    if (!reader.ok()) return reader.status();
    const auto first = (*reader)->At(0);
    return first.ok() ? (*reader)->At(split_.tokens - 1).status() : first.status();
  }

  const TextDirectory files_;
  const std::string path_ = files_ / "train.sources";
  SplitDescription split_;
  std::vector<std::pair<SourcePlace, int64_t>> documents_;
};

TEST_F(SourceReaderTest, FindsEachDocumentByItsTokens) {
  std::vector<std::pair<SourcePlace, int64_t>> documents;
  for (int64_t i = 0; i < 2500; ++i) {
    const std::string file = "/corpus/part-" + std::to_string(i / 700) + ".jsonl";
    documents.push_back({{file, true, i % 700 * 3}, 1 + i % 400});
  }
  for (int64_t i = 0; i < 10; ++i) {
    documents.push_back({{"/corpus/book-" + std::to_string(i) + ".txt", false, 0}, 5});
  }
  documents.push_back({{"/corpus/long.txt", false, 32768}, 100});
  documents.push_back({{"/corpus/long.txt", false, 65536}, int64_t{1} << 40});
  documents.push_back({{"/corpus/long.txt", false, 12}, 1});
  documents.push_back({{"/corpus/long", true, int64_t{1} << 40}, 1});
  Write(documents);
  EXPECT_TRUE(ReadAll().ok()) << ReadAll();
}

TEST_F(SourceReaderTest, NeedsFewBytesPerDocument) {
  std::vector<std::pair<SourcePlace, int64_t>> documents;
  for (int64_t i = 0; i < 20'000; ++i) {
    documents.push_back({{"/corpus/some/directory/part-00000.jsonl.zst", true, i * 2}, 800});
  }
  Write(documents);
  EXPECT_LE(split_.files[0].bytes, 20'000 * 31 / 10);
}

TEST_F(SourceReaderTest, AnEmptySplitHasNoDocuments) {
  Write({});
  auto reader = Open();
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->At(0).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(SourceReaderTest, TokensOutsideTheSplitAreRefused) {
  Write({{{"/a.txt", false, 0}, 10}});
  auto reader = Open();
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->At(-1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE((*reader)->At(9).ok());
  EXPECT_EQ((*reader)->At(10).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(SourceReaderTest, EachChangedByteIsFound) {
  std::vector<std::pair<SourcePlace, int64_t>> documents;
  for (int64_t i = 0; i < 1030; ++i) documents.push_back({{"/a.jsonl", true, i}, 1 + i % 3});
  Write(documents);
  const std::string bytes = ReadFile(path_);
  for (size_t at = 0; at < bytes.size(); at += at < 100 || at > 2000 ? 1 : 20) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    WriteFile(path_, damaged);
    const absl::Status status = ReadEnds();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << at << " " << status;
    EXPECT_THAT(status.message(), HasSubstr(path_ + ": "));
  }
}

TEST_F(SourceReaderTest, ACutFileIsDamaged) {
  Write({{{"/a.jsonl", true, 3}, 10}, {{"/b.jsonl", true, 3}, 10}});
  const std::string bytes = ReadFile(path_);
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteFile(path_, bytes.substr(0, size));
    EXPECT_EQ(ReadAll().code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST_F(SourceReaderTest, AFileOfOtherTokensIsRefused) {
  Write({{{"/a.jsonl", true, 3}, 10}});
  ++split_.documents;
  EXPECT_THAT(Open().status().message(), HasSubstr("belongs to other token files"));
  --split_.documents;
  ++split_.tokens;
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SourceReaderTest, MissingFilesNameTheNextStep) {
  Write({{{"/a.jsonl", true, 3}, 10}});
  std::filesystem::remove(path_);
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);
  split_.files.clear();
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Open().status().message(), HasSubstr("prepare the data again"));
}

TEST(SourcePlaceTextTest, NamesLinesAndBytes) {
  EXPECT_EQ(SourcePlaceText({"/a.jsonl", true, 0}), "/a.jsonl:1");
  EXPECT_EQ(SourcePlaceText({"/a.txt", false, 0}), "/a.txt");
  EXPECT_EQ(SourcePlaceText({"/a.txt", false, 32768}), "/a.txt, byte 32768");
}

}  // namespace
}  // namespace trainyard::data
