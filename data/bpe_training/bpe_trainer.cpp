#include "data/bpe_training/bpe_trainer.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "data/bpe/byte_alphabet.h"
#include "data/bpe_training/initial_pairs.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

// Ids must fit into a SymbolPair, and one value is reserved (pair_counts.h).
constexpr uint32_t kVocabularyMax = 1u << 31;

// Keeps all sums of counts in int64_t, with one bit to spare.
constexpr uint64_t kSymbolsMax = uint64_t{1} << 62;

absl::Status CheckSpecialTokens(const std::vector<std::string>& tokens) {
  std::set<std::string> known;
  for (const std::string& token : tokens) {
    if (token.empty()) {
      return absl::InvalidArgumentError("a special token is empty; remove it from the list");
    }
    if (!IsUtf8(token)) {
      return absl::InvalidArgumentError(
          "a special token is not valid UTF-8; write its text in UTF-8");
    }
    if (!known.insert(token).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("special token ", token, " is listed twice; list each one once"));
    }
  }
  return absl::OkStatus();
}

absl::Status NoMemory() {
  return absl::ResourceExhaustedError(
      "the system has not enough memory to train the vocabulary; use a machine with more memory, "
      "or less text");
}

}  // namespace

absl::StatusOr<BpeTrainer> BpeTrainer::Create(TrainingOptions options) {
  TRAINYARD_RETURN_IF_ERROR(CheckSpecialTokens(options.special_tokens));
  if (options.vocabulary_size == 0 || options.vocabulary_size > kVocabularyMax) {
    return absl::InvalidArgumentError(absl::StrCat("vocabulary size ", options.vocabulary_size,
                                                   " is not from 1 to ", kVocabularyMax));
  }
  return BpeTrainer(std::move(options));
}

absl::Status BpeTrainer::Add(std::string_view word, uint64_t count) {
  for (const char byte : word) seen_[static_cast<uint8_t>(byte)] = true;
  uint64_t symbols;
  if (__builtin_mul_overflow(word.size(), count, &symbols) ||
      __builtin_add_overflow(symbols, symbols_, &symbols) || symbols > kSymbolsMax) {
    return absl::OutOfRangeError(absl::StrCat("the words have more than ", kSymbolsMax,
                                              " bytes in total; use smaller weights"));
  }
  symbols_ = symbols;
  if (word.size() < 2) return absl::OkStatus();  // A single byte has no pair.
  const size_t size = words_.SizeWith(word.size());
  if (size > WordList::kElementsMax) {
    return absl::ResourceExhaustedError(
        "the distinct words have more than 2^32 symbols; use less text");
  }
  TRAINYARD_RETURN_IF_ERROR(CheckMemory(size * sizeof(uint32_t)));
  return words_.Add(word, static_cast<int64_t>(count)) ? absl::OkStatus() : NoMemory();
}

absl::Status BpeTrainer::CheckMemory(uint64_t bytes) const {
  if (bytes <= options_.memory_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("training the vocabulary needs more than the memory limit of ",
                   options_.memory_bytes >> 20, " MiB; raise the limit, or use less text"));
}

absl::StatusOr<TrainedBpe> BpeTrainer::Train() {
  TRAINYARD_RETURN_IF_ERROR(AddFirstTokens());
  TRAINYARD_RETURN_IF_ERROR(QueueInitialPairs());
  PairMerger merger(options_.max_token_length, &words_, &counts_, &queue_);
  for (uint32_t id = 0; id < result_.tokens.size(); ++id) merger.SetLength(id, 1);
  TRAINYARD_RETURN_IF_ERROR(MergeAll(&merger));
  return std::move(result_);
}

absl::Status BpeTrainer::AddFirstTokens() {
  for (const std::string& token : options_.special_tokens) FindOrAddToken(token);
  result_.special_tokens = result_.tokens.size();
  for (const char byte : options_.initial_bytes) seen_[static_cast<uint8_t>(byte)] = true;
  std::vector<uint8_t> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    if (seen_[byte]) bytes.push_back(static_cast<uint8_t>(byte));
  }
  std::sort(bytes.begin(), bytes.end(),
            [](uint8_t a, uint8_t b) { return CharactersOfBytes()[a] < CharactersOfBytes()[b]; });
  for (const uint8_t byte : bytes) {
    const char text = static_cast<char>(byte);
    ids_[byte] = FindOrAddToken(AlphabetText({&text, 1}));
  }
  if (result_.tokens.size() <= options_.vocabulary_size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("vocabulary size ", options_.vocabulary_size, " is too small for ",
                   result_.special_tokens, " special tokens and the ", bytes.size(),
                   " different bytes of the text; choose at least ", result_.tokens.size()));
}

uint32_t BpeTrainer::FindOrAddToken(const std::string& token) {
  const uint32_t next = static_cast<uint32_t>(result_.tokens.size());
  const auto [place, added] = id_by_token_.emplace(token, next);
  if (added) result_.tokens.push_back(token);
  return place->second;
}

absl::Status BpeTrainer::QueueInitialPairs() {
  InitialPairs pairs(&words_);
  TRAINYARD_RETURN_IF_ERROR(
      CheckMemory(words_.bytes() + pairs.BytesToQueue() + counts_.PeakBytesFor(pairs.size())));
  if (!counts_.MakeSpace(pairs.size())) return NoMemory();
  pairs.Queue(ids_, &counts_, &queue_);
  return absl::OkStatus();
}

absl::Status BpeTrainer::MergeAll(PairMerger* merger) {
  const uint64_t least = std::max<uint64_t>(options_.min_frequency, 1);
  while (result_.tokens.size() < options_.vocabulary_size) {
    std::optional<QueuedPair> entry = queue_.Pop();
    if (!entry.has_value()) return absl::OkStatus();
    const int64_t count = counts_.Get(entry->pair);
    if (count <= 0) continue;  // Earlier merges replaced all occurrences.
    if (count != entry->count) {
      entry->count = count;
      queue_.Push(*std::move(entry));
      continue;
    }
    if (static_cast<uint64_t>(count) < least) return absl::OkStatus();
    TRAINYARD_RETURN_IF_ERROR(ApplyMerge(*entry, merger));
  }
  return absl::OkStatus();
}

absl::Status BpeTrainer::ApplyMerge(const QueuedPair& entry, PairMerger* merger) {
  const BpeMerge merge{LeftOf(entry.pair), RightOf(entry.pair)};
  const uint32_t symbol = FindOrAddToken(result_.tokens[merge.left] + result_.tokens[merge.right]);
  result_.merges.push_back(merge);
  merger->SetLength(symbol, merger->LengthOf(merge.left) + merger->LengthOf(merge.right));
  merger->ReplaceInWords(entry.pair, symbol, entry.words.all());
  const size_t pairs = merger->PairsToUpdate();
  TRAINYARD_RETURN_IF_ERROR(
      CheckMemory(words_.bytes() + queue_.bytes() + merger->bytes() + counts_.PeakBytesFor(pairs)));
  if (!counts_.MakeSpace(pairs)) return NoMemory();
  merger->UpdateCounts();
  return absl::OkStatus();
}

}  // namespace trainyard::data
