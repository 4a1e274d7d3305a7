#include "data/bpe_training/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::pair<std::string, uint64_t>>;

absl::Status Write(const std::string& path, const Words& words) {
  const auto writer = RunWriter::Create(path);
  if (!writer.ok()) return writer.status();
  for (const auto& [word, count] : words) {
    const absl::Status added = (*writer)->Add(word, count);
    if (!added.ok()) return added;
  }
  return (*writer)->Finish();
}

absl::StatusOr<Words> Read(const std::string& path) {
  const auto reader = RunReader::Open(path);
  if (!reader.ok()) return reader.status();
  Words words;
  while (true) {
    const absl::StatusOr<bool> more = (*reader)->Next();
    if (!more.ok()) return more.status();
    if (!*more) return words;
    words.emplace_back(std::string((*reader)->word()), (*reader)->count());
  }
}

TEST(RunFileTest, ReturnsTheWordsOfSeveralBlocks) {
  const TemporaryDirectory directory;
  Words words;
  for (int i = 0; i < 30'000; ++i) words.emplace_back(std::to_string(100'000 + i), i + 1);
  words.emplace_back(std::string(1'000'000, 'x'), uint64_t{1} << 61);
  words.emplace_back(std::string("y\0z", 3), 1);
  ASSERT_TRUE(Write(directory.File("run"), words).ok());
  const absl::StatusOr<Words> read = Read(directory.File("run"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, words);
}

TEST(RunFileTest, ReturnsNoWordOfAnEmptyRun) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Write(directory.File("run"), {}).ok());
  const absl::StatusOr<Words> read = Read(directory.File("run"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->empty());
}

TEST(RunFileTest, DetectsACutAtEachByte) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Write(directory.File("run"), {{"ab", 1}, {"cd", 2}}).ok());
  const std::string whole = ReadFile(directory.File("run"));
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteFile(directory.File("cut"), whole.substr(0, size));
    const absl::Status status = Read(directory.File("cut")).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(status.message(), HasSubstr("cut is damaged"));
    EXPECT_THAT(status.message(), HasSubstr("run the command again"));
  }
}

TEST(RunFileTest, DetectsAChangeOfEachByte) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Write(directory.File("run"), {{"ab", 1}, {"cd", 2}}).ok());
  const std::string whole = ReadFile(directory.File("run"));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] ^= 1;
    WriteFile(directory.File("changed"), changed);
    EXPECT_EQ(Read(directory.File("changed")).status().code(), absl::StatusCode::kDataLoss) << at;
  }
}

TEST(RunFileTest, RefusesAnExistingFileAndAMissingDirectory) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Write(directory.File("run"), {}).ok());
  EXPECT_THAT(Write(directory.File("run"), {}).message(), HasSubstr("File exists"));
  EXPECT_THAT(Read(directory.File("none")).status().message(), HasSubstr("cannot open"));
  EXPECT_THAT(Write(directory.File("none/run"), {}).message(), HasSubstr("cannot create"));
}

}  // namespace
}  // namespace trainyard::data
