#include "data/bpe_training/word_counter.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/bpe_training/merge_words.h"
#include "data/bpe_training/run_file.h"
#include "data/split/piece_scanner.h"
#include "proto/files/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kThreadsMax = 4096;
// Limit of RunWriter for a word.
constexpr size_t kTextBytesMax = 0xFFFFFFFF - 16;
// Words counted between two checks of the memory.
constexpr size_t kBatch = 256;
// Limits the open files and the memory of a merge.
constexpr size_t kRunsMergedMax = 64;
// Keeps the sum over all threads below the limit of the trainer.
constexpr uint64_t kWeightedBytesMax = uint64_t{1} << 62;

// The words of a sorted table.
class TableSource : public WordSource {
 public:
  explicit TableSource(const WordTable* table) : table_(*table) {}

  absl::StatusOr<bool> Next() override { return next_++ < table_.size(); }
  std::string_view word() const override { return table_.word(next_ - 1); }
  uint64_t count() const override { return table_.count(next_ - 1); }

 private:
  const WordTable& table_;
  size_t next_ = 0;
};

absl::StatusOr<std::string> MakeRunDirectory(const std::string& scratch) {
  std::string path = scratch + "/bpe-training-XXXXXX";
  if (mkdtemp(path.data()) != nullptr) return path;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot create a directory in the scratch directory ", scratch, ": ",
                   std::strerror(errno), "; choose an existing, writable directory"));
}

absl::Status MergeRuns(const std::vector<std::string>& runs, const TakeWord& take) {
  std::vector<std::unique_ptr<WordSource>> sources;
  for (const std::string& run : runs) {
    TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<RunReader> reader, RunReader::Open(run));
    sources.push_back(std::move(reader));
  }
  return MergeWords(sources, take);
}

}  // namespace

struct WordCounter::Shard {
  Shard(size_t number_in, size_t memory_bytes) : number(number_in), table(memory_bytes) {}

  const size_t number;
  WordTable table;
  std::vector<std::string> runs;  // Paths.
  uint64_t weighted_bytes = 0;
  size_t longest_word = 0;
};

absl::StatusOr<std::unique_ptr<WordCounter>> WordCounter::Create(WordCounterOptions options) {
  if (options.threads == 0 || options.threads > kThreadsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.threads, " threads are not from 1 to ", kThreadsMax));
  }
  if (options.memory_bytes / options.threads < WordTable::kLeastBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a memory limit of ", options.memory_bytes, " bytes is too low for ", options.threads,
        " threads; choose at least ", WordTable::kLeastBytes * options.threads));
  }
  std::unique_ptr<WordCounter> counter(new WordCounter(std::move(options)));
  if (!counter->options_.scratch.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(counter->directory_, MakeRunDirectory(counter->options_.scratch));
  }
  return counter;
}

WordCounter::WordCounter(WordCounterOptions options) : options_(std::move(options)) {
  for (size_t i = 0; i < options_.threads; ++i) {
    shards_.push_back(std::make_unique<Shard>(i, options_.memory_bytes / options_.threads));
  }
}

WordCounter::~WordCounter() {
  if (!directory_.empty()) (void)RemoveEntry(directory_);
}

absl::Status WordCounter::Add(size_t thread, std::string_view text, uint64_t weight) {
  Shard* const shard = shards_[thread].get();
  if (text.size() > kTextBytesMax) {
    return absl::InvalidArgumentError("a text has 4 GiB or more; divide it into documents");
  }
  TRAINYARD_RETURN_IF_ERROR(CheckWeight(shard, text.size(), weight));
  if (options_.unit == TrainingUnit::kDocument) return AddUnit(shard, text, weight);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == text.npos ? end : end + 1);
    TRAINYARD_RETURN_IF_ERROR(AddUnit(shard, line, weight));
    text.remove_prefix(line.size());
  }
  return absl::OkStatus();
}

absl::Status WordCounter::AddWord(size_t thread, std::string_view word, uint64_t count) {
  Shard* const shard = shards_[thread].get();
  TRAINYARD_RETURN_IF_ERROR(CheckWeight(shard, word.size(), count));
  TRAINYARD_RETURN_IF_ERROR(MakeSpace(shard, 1, word.size()));
  shard->longest_word = std::max(shard->longest_word, word.size());
  shard->table.Add(word.data(), word.size(), word.data() + word.size(), count);
  return absl::OkStatus();
}

absl::Status WordCounter::CheckWeight(Shard* shard, size_t bytes, uint64_t weight) const {
  uint64_t weighted;
  if (__builtin_mul_overflow(bytes, weight, &weighted) ||
      __builtin_add_overflow(weighted, shard->weighted_bytes, &weighted) ||
      weighted > kWeightedBytesMax / options_.threads) {
    return absl::OutOfRangeError(
        absl::StrCat("the texts times their weights exceed 2^62 bytes; use smaller weights"));
  }
  shard->weighted_bytes = weighted;
  return absl::OkStatus();
}

absl::Status WordCounter::AddUnit(Shard* shard, std::string_view text, uint64_t weight) {
  PieceScanner scanner(options_.rule, text);
  const char* const limit = text.data() + text.size();
  uint32_t ends[kBatch];
  size_t begin = 0;
  while (const size_t words = scanner.Next(ends, kBatch)) {
    TRAINYARD_RETURN_IF_ERROR(MakeSpace(shard, words, ends[words - 1] - begin));
    for (size_t i = 0; i < words; ++i) {
      const size_t length = ends[i] - begin;
      shard->longest_word = std::max(shard->longest_word, length);
      shard->table.Add(text.data() + begin, length, limit, weight);
      begin = ends[i];
    }
  }
  return absl::OkStatus();
}

absl::Status WordCounter::MakeSpace(Shard* shard, size_t words, size_t bytes) {
  if (shard->table.MakeSpace(words, bytes)) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(Spill(shard));
  if (shard->table.MakeSpace(words, bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a word has ", bytes, " bytes or less, which exceeds the memory limit for words of ",
      options_.memory_bytes / options_.threads, " bytes per thread; raise the memory limit"));
}

absl::Status WordCounter::Spill(Shard* shard) {
  if (shard->table.size() == 0) return absl::OkStatus();
  if (directory_.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the distinct words exceed the memory limit of ", options_.memory_bytes >> 20,
                     " MiB; set a scratch directory, or raise the memory limit"));
  }
  const std::string path =
      absl::StrCat(directory_, "/words-", shard->number, "-", shard->runs.size());
  shard->table.Sort();
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<RunWriter> run, RunWriter::Create(path));
  for (size_t i = 0; i < shard->table.size(); ++i) {
    TRAINYARD_RETURN_IF_ERROR(run->Add(shard->table.word(i), shard->table.count(i)));
  }
  TRAINYARD_RETURN_IF_ERROR(run->Finish());
  shard->runs.push_back(path);
  shard->table.Clear();
  return absl::OkStatus();
}

absl::Status WordCounter::Finish(const TakeWord& take) {
  const bool spilled = std::any_of(shards_.begin(), shards_.end(),
                                   [](const auto& shard) { return !shard->runs.empty(); });
  return spilled ? FinishFromRuns(take) : FinishInMemory(take);
}

absl::Status WordCounter::FinishInMemory(const TakeWord& take) {
  if (shards_.size() == 1) {
    WordTable& table = shards_[0]->table;
    table.Compact();
    for (size_t i = 0; i < table.size(); ++i) {
      TRAINYARD_RETURN_IF_ERROR(take(table.word(i), table.count(i)));
    }
    table.Clear();
    return absl::OkStatus();
  }
  std::vector<std::unique_ptr<WordSource>> sources;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->table.Sort();
    sources.push_back(std::make_unique<TableSource>(&shard->table));
  }
  TRAINYARD_RETURN_IF_ERROR(MergeWords(sources, take));
  for (const std::unique_ptr<Shard>& shard : shards_) shard->table.Clear();
  return absl::OkStatus();
}

absl::Status WordCounter::FinishFromRuns(const TakeWord& take) {
  // Spills the words in memory too, so that the receiver of the words can use all memory.
  std::vector<std::string> runs;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    TRAINYARD_RETURN_IF_ERROR(Spill(shard.get()));
    runs.insert(runs.end(), shard->runs.begin(), shard->runs.end());
  }
  for (size_t number = 0; runs.size() > kRunsMergedMax; ++number) {
    TRAINYARD_RETURN_IF_ERROR(MergeFirstRuns(&runs, number));
  }
  return MergeRuns(runs, take);
}

absl::Status WordCounter::MergeFirstRuns(std::vector<std::string>* runs, size_t next_number) {
  const std::string path = absl::StrCat(directory_, "/merged-", next_number);
  const std::vector<std::string> first(runs->begin(), runs->begin() + kRunsMergedMax);
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<RunWriter> merged, RunWriter::Create(path));
  TRAINYARD_RETURN_IF_ERROR(MergeRuns(first, [&merged](std::string_view word, uint64_t count) {
    return merged->Add(word, count);
  }));
  TRAINYARD_RETURN_IF_ERROR(merged->Finish());
  for (const std::string& run : first) unlink(run.c_str());
  runs->erase(runs->begin(), runs->begin() + kRunsMergedMax);
  runs->push_back(path);
  return absl::OkStatus();
}

size_t WordCounter::longest_word() const {
  size_t longest = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    longest = std::max(longest, shard->longest_word);
  }
  return longest;
}

}  // namespace trainyard::data
