#include "data/tokens/split_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SplitCheckTest : public testing::Test {
 protected:
  // Writes a data set and reads its description.
  void Write(const Tokenizer& tokenizer, OutputFormat format) {
    WriteDataset(directory_.path(), tokenizer, format);
    const auto read = ReadDescription(directory_.path());
    ASSERT_TRUE(read.ok()) << read.status();
    train_ = read->splits[0];
    settings_.format = format;
  }

  std::vector<std::string> Check() { return CheckSplit(directory_.path(), train_, settings_); }

  // Replaces bytes of a file.
  void Change(const std::string& name, size_t at, const std::string& bytes) {
    std::string contents = ReadFile(directory_ / name);
    directory_.Write(name, contents.replace(at, bytes.size(), bytes));
  }

  const TextDirectory directory_;
  SplitDescription train_;
  int64_t read_ = 0;
  SplitCheckSettings settings_ = {OutputFormat::kTrainyard, false, [this](int64_t bytes) {
                                    read_ += bytes;
                                    return true;
                                  }};
};

TEST_F(SplitCheckTest, EveryFormatIsCorrect) {
  for (const OutputFormat format : {OutputFormat::kTrainyard, OutputFormat::kMegatron,
                                    OutputFormat::kNanogpt, OutputFormat::kLlmc}) {
    for (const std::string& name : directory_.Names()) {
      std::filesystem::remove(directory_ / name);
    }
    Write(VocabOnly(50257, "gpt2"), format);
    EXPECT_THAT(Check(), IsEmpty()) << NameOf(format);
  }
  // The inputs of three lines need 95 bytes.
  EXPECT_EQ(read_, 18 + 18 + 34 + 3 * 12 + 4 * 8 + 18 + 18 + 4 * 95);
}

TEST_F(SplitCheckTest, SizesAndMissingFiles) {
  Write(VocabOnly(300), OutputFormat::kMegatron);
  directory_.Write("train.bin", "short");
  std::filesystem::remove(directory_ / "train.idx");
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("train.bin: has 5 bytes instead of 18; copy the file"),
                                   HasSubstr("train.idx: is missing or is not a file; copy")));
}

TEST_F(SplitCheckTest, Checksums) {
  Write(VocabOnly(300), OutputFormat::kMegatron);
  Change("train.bin", 0, "\x09");
  Change("train.idx", 40, "\x09");
  Change("train.sources", 40, "\x09");
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("train.bin: the checksum is "),
                                   HasSubstr("train.idx: the checksum is "),
                                   HasSubstr("train.sources: the checksum is ")));
}

TEST_F(SplitCheckTest, HeadersOfLlmc) {
  Write(VocabOnly(128256, "llama3", 128000), OutputFormat::kLlmc);
  EXPECT_THAT(Check(), IsEmpty());
  Change("train_000001.bin", 8, "\x01");
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("its header does not declare the 9 tokens")));
}

TEST_F(SplitCheckTest, Ids) {
  Write(VocabOnly(300), OutputFormat::kTrainyard);
  train_.vocab_size = 6;
  train_.marks.after.reset();
  const std::vector<std::string> problems = Check();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0], HasSubstr("train: 4 ids are not below the size of the vocabulary (6), "
                                     "first id 299 at token 3; prepare the data again"));
}

TEST_F(SplitCheckTest, Documents) {
  Write(VocabOnly(300, "test", 17), OutputFormat::kTrainyard);
  EXPECT_THAT(Check(), IsEmpty());
  train_.documents = 2;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("of 3 documents, but the description declares 2")));
  settings_.marks_in_text = true;
  EXPECT_THAT(Check(), IsEmpty());
  train_.documents = 4;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("of 3 documents, but the description declares 4")));
}

TEST_F(SplitCheckTest, FirstAndLastTokens) {
  Write(VocabOnly(300, "test", 17), OutputFormat::kTrainyard);
  train_.marks = {18, 6};
  train_.documents = 1;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("begins with token 17 instead of the begin of a "
                                             "document (18)"),
                                   HasSubstr("ends with token 299 instead of the end of a "
                                             "document (6)")));
}

TEST_F(SplitCheckTest, NumbersOfTokens) {
  Write(VocabOnly(50257, "gpt2"), OutputFormat::kLlmc);
  train_.tokens = 10;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("have 9 tokens, but the description declares 10")));
}

TEST_F(SplitCheckTest, ASplitWithoutTokensHasNoDocuments) {
  train_.split = "val";
  EXPECT_THAT(Check(), IsEmpty());
  train_.documents = 1;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("of 0 documents, but the description declares 1")));
}

TEST_F(SplitCheckTest, CanBeStopped) {
  Write(VocabOnly(300), OutputFormat::kMegatron);
  Change("train.idx", 40, "\x09");
  settings_.advance = [](int64_t) { return false; };
  EXPECT_THAT(Check(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::data
