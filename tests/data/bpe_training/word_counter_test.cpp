#include "data/bpe_training/word_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;
using Counts = std::map<std::string, uint64_t>;

// Fails the test if a word is passed twice.
absl::StatusOr<Counts> Finish(WordCounter* counter) {
  Counts counts;
  const absl::Status status = counter->Finish([&counts](std::string_view word, uint64_t count) {
    EXPECT_TRUE(counts.emplace(word, count).second) << word;
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return counts;
}

Counts CountOneText(WordCounterOptions options, const std::string& text, uint64_t weight = 1) {
  const auto counter = WordCounter::Create(std::move(options));
  EXPECT_TRUE(counter.ok()) << counter.status();
  EXPECT_TRUE((*counter)->Add(0, text, weight).ok());
  const absl::StatusOr<Counts> counts = Finish(counter->get());
  EXPECT_TRUE(counts.ok()) << counts.status();
  return counts.value_or(Counts{});
}

// Lines with `words` distinct words.
std::string DistinctWords(int first, int words) {
  std::string text;
  for (int i = first; i < first + words; ++i) {
    for (int digits = i; digits > 0; digits /= 10) text += static_cast<char>('a' + digits % 10);
    text += i % 7 == 0 ? " a-long-line-of-minus-signs" + std::string(i % 40, '-') + "\n" : " ";
  }
  return text;
}

std::vector<std::filesystem::path> FilesIn(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST(WordCounterTest, SplitsLinesOnTheirOwn) {
  EXPECT_EQ(CountOneText({.unit = TrainingUnit::kLine}, "a b\n\n b b"),
            (Counts{{"a", 1}, {" b", 3}, {"\n", 2}}));
}

TEST(WordCounterTest, SplitsDocumentsAsAWhole) {
  EXPECT_EQ(CountOneText({.unit = TrainingUnit::kDocument}, "a b\n\n b b"),
            (Counts{{"a", 1}, {" b", 3}, {"\n\n", 1}}));
}

TEST(WordCounterTest, KeepsTheCarriageReturnOfALine) {
  EXPECT_EQ(CountOneText({.unit = TrainingUnit::kLine}, "a\r\nb\r\n"),
            (Counts{{"a", 1}, {"b", 1}, {"\r\n", 2}}));
}

TEST(WordCounterTest, HasNoWordWithoutText) {
  EXPECT_EQ(CountOneText({}, ""), Counts{});
  EXPECT_EQ(CountOneText({.unit = TrainingUnit::kDocument}, ""), Counts{});
}

TEST(WordCounterTest, MultipliesByTheWeight) {
  const uint64_t weight = uint64_t{1} << 40;
  EXPECT_EQ(CountOneText({}, "a a", weight), (Counts{{"a", weight}, {" a", weight}}));
}

TEST(WordCounterTest, RefusesWeightsThatOverflow) {
  const auto counter = WordCounter::Create({.threads = 2});
  ASSERT_TRUE(counter.ok());
  ASSERT_TRUE((*counter)->Add(0, "ab", uint64_t{1} << 60).ok());
  const absl::Status status = (*counter)->Add(0, "a", 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr("use smaller weights"));
  EXPECT_EQ((*counter)->Add(1, "ab", ~uint64_t{0}).code(), absl::StatusCode::kOutOfRange);
}

TEST(WordCounterTest, SumsTheWordsOfAllThreads) {
  const auto counter = WordCounter::Create({.threads = 3});
  ASSERT_TRUE(counter.ok());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&counter, i] {
      EXPECT_TRUE((*counter)->Add(i, DistinctWords(static_cast<int>(i) * 1'000, 3'000)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::StatusOr<Counts> counts = Finish(counter->get());
  ASSERT_TRUE(counts.ok()) << counts.status();
  const auto one_thread = WordCounter::Create({});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*one_thread)->Add(0, DistinctWords(i * 1'000, 3'000)).ok());
  }
  EXPECT_EQ(*counts, *Finish(one_thread->get()));
}

TEST(WordCounterTest, CountsTheSameWithScratchFiles) {
  const TemporaryDirectory scratch;
  const WordCounterOptions options{
      .threads = 2, .memory_bytes = 2 * WordTable::kLeastBytes, .scratch = scratch.path()};
  {
    const auto counter = WordCounter::Create(options);
    ASSERT_TRUE(counter.ok()) << counter.status();
    const auto in_memory = WordCounter::Create({});
    ASSERT_TRUE(in_memory.ok()) << in_memory.status();
    // More files are written than are merged at once. Words occur in several files and threads.
    for (int i = 0; i < 100; ++i) {
      const std::string text = DistinctWords(1'000 * i, 2'000);
      ASSERT_TRUE((*counter)->Add(i % 3 == 0 ? 0 : 1, text).ok());
      ASSERT_TRUE((*in_memory)->Add(0, text).ok());
    }
    EXPECT_GT(FilesIn(scratch.path()).size(), 64u);
    const absl::StatusOr<Counts> counts = Finish(counter->get());
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ(*counts, *Finish(in_memory->get()));
    EXPECT_LE(FilesIn(scratch.path()).size(), 64u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(WordCounterTest, DetectsACutScratchFile) {
  const TemporaryDirectory scratch;
  const auto counter =
      WordCounter::Create({.memory_bytes = WordTable::kLeastBytes, .scratch = scratch.path()});
  ASSERT_TRUE(counter.ok()) << counter.status();
  ASSERT_TRUE((*counter)->Add(0, DistinctWords(0, 5'000)).ok());
  const std::vector<std::filesystem::path> files = FilesIn(scratch.path());
  ASSERT_FALSE(files.empty());
  std::filesystem::resize_file(files[0], std::filesystem::file_size(files[0]) - 16);
  const absl::Status status = Finish(counter->get()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr(files[0].string()));
}

TEST(WordCounterTest, NeedsAScratchDirectoryForMoreWordsThanMemory) {
  const auto counter = WordCounter::Create({.memory_bytes = WordTable::kLeastBytes});
  ASSERT_TRUE(counter.ok());
  const absl::Status status = (*counter)->Add(0, DistinctWords(0, 5'000));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("set a scratch directory"));
}

TEST(WordCounterTest, RefusesAWordLargerThanTheMemory) {
  const TemporaryDirectory scratch;
  const auto counter =
      WordCounter::Create({.memory_bytes = WordTable::kLeastBytes, .scratch = scratch.path()});
  ASSERT_TRUE(counter.ok());
  const absl::Status status = (*counter)->Add(0, std::string(100'000, 'x'));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("raise the memory limit"));
}

TEST(WordCounterTest, ReportsTheLongestWord) {
  const auto counter = WordCounter::Create({.threads = 2});
  ASSERT_TRUE(counter.ok());
  EXPECT_EQ((*counter)->longest_word(), 0u);
  ASSERT_TRUE((*counter)->Add(0, "abc d\nefg").ok());
  ASSERT_TRUE((*counter)->Add(1, "ab cdefg").ok());
  EXPECT_EQ((*counter)->longest_word(), 6u);
  ASSERT_TRUE((*counter)->AddWord(0, "abcdefgh", 1).ok());
  EXPECT_EQ((*counter)->longest_word(), 8u);
}

TEST(WordCounterTest, RefusesUnusableOptions) {
  EXPECT_THAT(WordCounter::Create({.threads = 0}).status().message(), HasSubstr("threads"));
  EXPECT_THAT(WordCounter::Create({.threads = 2, .memory_bytes = 100'000}).status().message(),
              HasSubstr("choose at least 131072"));
  EXPECT_THAT(WordCounter::Create({.scratch = "/nonexistent"}).status().message(),
              HasSubstr("choose an existing, writable directory"));
}

}  // namespace
}  // namespace trainyard::data
