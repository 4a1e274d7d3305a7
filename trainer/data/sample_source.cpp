#include "trainer/data/sample_source.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// The finalizer of MurmurHash3. A change of any input bit flips each output bit with probability
// near 1/2.
uint64_t Mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  value ^= value >> 33;
  return value;
}

// Returns a round key for a seed and an epoch. Neighboring seeds or epochs have different round
// keys.
uint64_t RoundKey(uint64_t seed, int64_t epoch, uint64_t round) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio
  return Mix(Mix(Mix(seed + kGolden) ^ (static_cast<uint64_t>(epoch) + kGolden)) + round * kGolden);
}

// The number of rounds of a balanced Feistel network, which permutes [0, 2^(2 * half_bits)).
constexpr int kRounds = 6;

class Feistel {
 public:
  Feistel(uint64_t seed, int64_t epoch, int half_bits)
      : half_bits_(half_bits), mask_((uint64_t{1} << half_bits) - 1) {
    for (int round = 0; round < kRounds; ++round) keys_[round] = RoundKey(seed, epoch, round);
  }

  uint64_t operator()(uint64_t value) const {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask_;
    for (const uint64_t key : keys_) {
      const uint64_t next = left ^ (Mix(right ^ key) & mask_);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

 private:
  const int half_bits_;
  const uint64_t mask_;
  uint64_t keys_[kRounds];
};

// Returns the seed of a source. Each source has its own seed, so that files of equal size are read
// in different orders. Source 0, which is also the source of a run with a single file, uses the
// run's seed.
uint64_t SeedOf(uint64_t seed, int64_t source) {
  // Large, so that a source of one run does not get the seed of another run with a similar seed.
  constexpr uint64_t kOdd = 0xd1342543de82ef95ULL;
  return seed + static_cast<uint64_t>(source) * kOdd;
}

std::shared_ptr<const TokenFile> NotOwned(const TokenFile& file) {
  return {std::shared_ptr<const TokenFile>(), &file};
}

BlendSpan SpanOf(const std::vector<WeightedTokens>& files) {
  BlendSpan span;
  for (const WeightedTokens& tokens : files) span.shares.push_back(tokens.share);
  span.taken.assign(files.size(), 0);
  return span;
}

int64_t CountWindows(const TokenFile& file, const SampleSourceOptions& options) {
  if (file.header().vocab_size > options.vocab_size) {
    throw TrainerError(ExitCode::kBadConfig,
                       file.path() + " was made with " + std::to_string(file.header().vocab_size) +
                           " token ids, but model.vocab_size is " +
                           std::to_string(options.vocab_size) + "; raise model.vocab_size");
  }
  const int64_t windows = file.size() > 0 ? (file.size() - 1) / options.seq_length : 0;
  if (windows > 0) return windows;
  throw TrainerError(ExitCode::kBadData, file.path() + " has " + std::to_string(file.size()) +
                                             " tokens, but one sample needs " +
                                             std::to_string(options.seq_length + 1) +
                                             "; lower train.seq_length, or prepare more data");
}

}  // namespace

int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index) {
  if (size <= 1) return 0;
  // The network permutes the smallest range 4^n >= size, which is less than four times `size`. The
  // network is applied until the value is below `size` (cycle walking), on average fewer than four
  // times.
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  const Feistel permute(seed, epoch, (bits + 1) / 2);
  uint64_t value = static_cast<uint64_t>(index);
  do {
    value = permute(value);
  } while (value >= static_cast<uint64_t>(size));
  return static_cast<int64_t>(value);
}

SampleSource::SampleSource(std::vector<WeightedTokens> files, SampleSourceOptions options)
    : files_(std::move(files)), options_(std::move(options)), order_({SpanOf(files_)}) {
  for (const WeightedTokens& tokens : files_) {
    windows_.push_back(CountWindows(*tokens.file, options_));
  }
}

SampleSource::SampleSource(const TokenFile& file, SampleSourceOptions options)
    : SampleSource({{NotOwned(file), 1}}, std::move(options)) {}

int64_t SampleSource::positions_before_repeat() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t source = 0; source < sources(); ++source) {
    if (spans().front().shares[source] == 0) continue;
    least = std::min(least, order_.order_of_first().PositionOf({source, windows_[source]}));
  }
  return least;
}

double SampleSource::PassesBefore(int64_t sample, int64_t source) const {
  return static_cast<double>(CountBefore(sample, source)) / static_cast<double>(windows_[source]);
}

int64_t SampleSource::CountBefore(int64_t sample, int64_t source) const {
  return order_.Count(source, PositionOf(sample));
}

void SampleSource::SetSkip(std::vector<SkipRange> skip) { options_.skip = std::move(skip); }

void SampleSource::SetSpans(std::vector<BlendSpan> spans) {
  order_ = StagedOrder(std::move(spans));
}

int64_t SampleSource::PositionOf(int64_t sample) const {
  return trainer::PositionOf(sample, options_.skip);
}

int64_t SampleSource::WindowAt(const BlendOrder::Place& place) const {
  const int64_t windows = windows_[place.source];
  const int64_t index = place.index % windows;
  if (options_.order == SampleOrder::kSequential) return index;
  return PermuteIndex(SeedOf(options_.seed, place.source), place.index / windows, windows, index);
}

void SampleSource::Fill(int64_t sample, int64_t* tokens) const {
  const BlendOrder::Place place = order_.At(PositionOf(sample));
  FillWindow(place.source, WindowAt(place), tokens);
}

void SampleSource::CheckTokens(int64_t windows) const {
  std::vector<int64_t> tokens(options_.seq_length + 1);
  for (int64_t source = 0; source < sources(); ++source) {
    const int64_t checked = std::min(windows, windows_[source]);
    const int64_t last = windows_[source] - 1;
    for (int64_t i = 0; i < checked; ++i) {
      // The first window is number 0, the last one is `last`. The product does not overflow,
      // because `windows` is small.
      FillWindow(source, checked == 1 ? 0 : i * last / (checked - 1), tokens.data());
    }
  }
}

void SampleSource::FillWindow(int64_t source, int64_t window, int64_t* tokens) const {
  const TokenFile& file = *files_[source].file;
  const int64_t first = window * options_.seq_length;
  const int64_t largest = file.Copy(first, options_.seq_length + 1, tokens);
  if (largest >= 0 && largest < options_.vocab_size) return;
  throw TrainerError(ExitCode::kBadData, file.path() + ": token id " + std::to_string(largest) +
                                             " among tokens " + std::to_string(first) + " to " +
                                             std::to_string(first + options_.seq_length) +
                                             " is outside the model's vocabulary of " +
                                             std::to_string(options_.vocab_size) +
                                             "; raise model.vocab_size or prepare the data again");
}

}  // namespace trainyard::trainer
