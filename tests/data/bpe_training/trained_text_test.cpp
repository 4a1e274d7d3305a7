// Trains on a generated text. The golden hash was computed from the vocabulary and the merges that
// Hugging Face's tokenizers 0.23.2 trained on the same text.
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>
#include <thread>
#include <vector>

#include "data/bpe_training/bpe_trainer.h"
#include "data/bpe_training/word_counter.h"
#include "tests/data/bpe_training/generated_text.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

constexpr uint64_t kGoldenHash = 0xbfd76ff3450bff6a;
constexpr size_t kParts = 7;

// The i-th of kParts parts of the text. Parts end after a line.
std::string_view PartOf(std::string_view text, size_t i) {
  const auto begin = [text](size_t part) {
    const size_t at = text.size() / kParts * part;
    return part == 0 ? 0 : part == kParts ? text.size() : text.find('\n', at) + 1;
  };
  return text.substr(begin(i), begin(i + 1) - begin(i));
}

uint64_t HashOf(const TrainedBpe& trained) {
  std::string all;
  for (const std::string& token : trained.tokens) all += token + "\n";
  for (const BpeMerge& merge : trained.merges) {
    all += trained.tokens[merge.left] + " " + trained.tokens[merge.right] + "\n";
  }
  return XXH64(all.data(), all.size(), 0);
}

// Returns the hash of the vocabulary and merges; 0 on an error, which fails the test.
uint64_t TrainWith(const WordCounterOptions& options) {
  const std::string text = GeneratedText(600'000);
  const auto counter = WordCounter::Create(options);
  EXPECT_TRUE(counter.ok()) << counter.status();
  if (!counter.ok()) return 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < options.threads; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = thread; i < kParts; i += options.threads) {
        EXPECT_TRUE((*counter)->Add(thread, PartOf(text, i)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  absl::StatusOr<BpeTrainer> trainer = BpeTrainer::Create({});
  const absl::Status added = (*counter)->Finish(
      [&trainer](std::string_view word, uint64_t count) { return trainer->Add(word, count); });
  EXPECT_TRUE(added.ok()) << added;
  const absl::StatusOr<TrainedBpe> trained = trainer->Train();
  EXPECT_TRUE(trained.ok()) << trained.status();
  return trained.ok() ? HashOf(*trained) : 0;
}

TEST(TrainedTextTest, HasTheGoldenHash) { EXPECT_EQ(TrainWith({}), kGoldenHash); }

TEST(TrainedTextTest, DoesNotDependOnThreads) {
  EXPECT_EQ(TrainWith({.threads = 2}), kGoldenHash);
  EXPECT_EQ(TrainWith({.threads = 7}), kGoldenHash);
}

TEST(TrainedTextTest, DoesNotDependOnMemory) {
  const TemporaryDirectory scratch;
  EXPECT_EQ(
      TrainWith(
          {.threads = 2, .memory_bytes = 2 * WordTable::kLeastBytes, .scratch = scratch.path()}),
      kGoldenHash);
}

}  // namespace
}  // namespace trainyard::data
