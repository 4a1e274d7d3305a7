#include "data/tokens/dataset_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/tokens/output_directory.h"
#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(DatasetDescriptionTest, EveryFormatIsReadBack) {
  const VocabOnly gpt2(50257, "gpt2");
  for (const OutputFormat format : {OutputFormat::kTrainyard, OutputFormat::kMegatron,
                                    OutputFormat::kNanogpt, OutputFormat::kLlmc}) {
    const TextDirectory directory;
    WriteDataset(directory.path(), gpt2, format);
    const auto read = ReadDescription(directory.path());
    ASSERT_TRUE(read.ok()) << NameOf(format) << ": " << read.status();
    EXPECT_EQ(read->format, format);
    ASSERT_EQ(read->splits.size(), 2u);
    const SplitDescription& train = read->splits[0];
    EXPECT_EQ(train.split, "train");
    EXPECT_EQ(train.vocab_size, 50257);
    EXPECT_EQ(train.bytes_per_token, 2);
    EXPECT_EQ(train.tokens, 9);
    EXPECT_EQ(train.documents, 3);
    EXPECT_EQ(train.marks.before, MarksOf(format, gpt2).before);
    EXPECT_EQ(train.marks.after, MarksOf(format, gpt2).after);
    EXPECT_EQ(train.files.size(), format == OutputFormat::kMegatron ? 3u : 2u);
    EXPECT_EQ(train.files.back().name, "train.sources");
    EXPECT_EQ(train.files.back().token_from, -1);
    EXPECT_EQ(train.files[0].bytes, format == OutputFormat::kLlmc ? 1024 + 18 : 18);
    EXPECT_EQ(read->splits[1].split, "val");
    EXPECT_EQ(read->splits[1].tokens, 3);
  }
}

TEST(DatasetDescriptionTest, NanogptHasMetaPkl) {
  const TextDirectory directory;
  WriteDataset(directory.path(), VocabOnly(300), OutputFormat::kNanogpt);
  // The output of pickle.dumps({"vocab_size": 300}, 0) of Python 3.11.
  EXPECT_EQ(ReadFile(directory / "meta.pkl"), "(dp0\nVvocab_size\np1\nI300\ns.");
  EXPECT_THAT(directory.Names(), ElementsAre("dataset.json", "meta.pkl", "train.bin",
                                             "train.sources", "val.bin", "val.sources"));
}

std::string ErrorOf(const TextDirectory& directory) {
  return std::string(ReadDescription(directory.path()).status().message());
}

TEST(DatasetDescriptionTest, DamageIsNamed) {
  const TextDirectory directory;
  WriteDataset(directory.path(), VocabOnly(300), OutputFormat::kMegatron);
  const nlohmann::json sound = nlohmann::json::parse(ReadFile(directory / "dataset.json"));
  const auto error = [&](const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json changed = sound;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    directory.Write("dataset.json", changed.dump());
    const absl::Status status = ReadDescription(directory.path()).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("prepare the data again"));
    return std::string(status.message());
  };
  EXPECT_THAT(error("/format", "x"), HasSubstr("\"format\" is not \"trainyard-dataset\""));
  EXPECT_THAT(error("/version", 2), HasSubstr("\"version\" is not 1; update this program"));
  EXPECT_THAT(error("/token_files", "parquet"), HasSubstr("names no known format"));
  EXPECT_THAT(error("/dtype", "int8"), HasSubstr("\"dtype\" is neither"));
  EXPECT_THAT(error("/vocab_size", -1), HasSubstr("\"vocab_size\" is not a whole number"));
  EXPECT_THAT(error("/splits/val", 1), HasSubstr("has no split \"val\""));
  EXPECT_THAT(error("/splits/val/tokens", 1e19), HasSubstr("\"tokens\" is not a whole number"));
  EXPECT_THAT(error("/splits/train/files", 7), HasSubstr("\"files\" is not a list"));
  EXPECT_THAT(error("/splits/train/files/0", 7), HasSubstr("is not an object"));
  EXPECT_THAT(error("/splits/train/files/0/name", "../x"), HasSubstr("in another directory"));
  EXPECT_THAT(error("/splits/train/files/0/token_from", 19), HasSubstr("\"token_from\""));
  directory.Write("dataset.json", "[]");
  EXPECT_THAT(ErrorOf(directory), HasSubstr("dataset.json: is not a JSON object"));
}

TEST(DatasetDescriptionTest, OurOwnFormatMayLackTheValSplit) {
  const TextDirectory directory;
  EXPECT_THAT(ErrorOf(directory), HasSubstr("has neither train.json nor dataset.json"));
  WriteDataset(directory.path(), VocabOnly(300), OutputFormat::kTrainyard);
  std::filesystem::remove(directory / "val.json");
  EXPECT_THAT(ErrorOf(directory), HasSubstr("val.json: cannot open: No such file"));
  std::filesystem::remove(directory / "val.bin");
  const auto read = ReadDescription(directory.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->splits.size(), 1u);
}

TEST(DatasetDescriptionTest, FilesOfOtherProgramsAreExplained) {
  const TextDirectory directory;
  directory.Write("train.bin", "1234");
  EXPECT_THAT(ErrorOf(directory),
              AllOf(HasSubstr("has train.bin but no train.json"), HasSubstr("set data.path"),
                    HasSubstr("data.format to nanogpt")));
  directory.Write("train.idx", "1234");
  EXPECT_THAT(ErrorOf(directory),
              AllOf(HasSubstr("has train.bin and train.idx"), Not(HasSubstr("nanogpt"))));
}

// --force replaces a data set of every format, and nothing else with a file of this name.
TEST(DatasetDescriptionTest, ADataSetOfAnyFormatCanBeReplaced) {
  const TextDirectory directory;
  std::filesystem::create_directory(directory / "out");
  WriteDataset(directory / "out", VocabOnly(300), OutputFormat::kMegatron);
  EXPECT_TRUE(OutputDirectory::Create(directory / "out", true).ok());
  directory.Write("other/dataset.json", "{\"format\": \"other\"}");
  EXPECT_FALSE(OutputDirectory::Create(directory / "other", true).ok());
}

}  // namespace
}  // namespace trainyard::data
