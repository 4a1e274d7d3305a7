#include "trainer/data/sample_source.h"

#include <bit>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// The finaliser of MurmurHash3: every input bit changes every output bit with probability near 1/2.
uint64_t Mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  value ^= value >> 33;
  return value;
}

// Keyed so that neither neighbouring seeds nor neighbouring epochs share a round key.
uint64_t RoundKey(uint64_t seed, int64_t epoch, uint64_t round) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio
  return Mix(Mix(Mix(seed + kGolden) ^ (static_cast<uint64_t>(epoch) + kGolden)) + round * kGolden);
}

// A balanced Feistel network permutes [0, 2^(2 * half_bits)).
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

}  // namespace

int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index) {
  if (size <= 1) return 0;
  // The smallest 4^n that holds size: at most four times it, so that walking the cycle back into
  // [0, size) takes fewer than four rounds on average.
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  const Feistel permute(seed, epoch, (bits + 1) / 2);
  uint64_t value = static_cast<uint64_t>(index);
  do {
    value = permute(value);
  } while (value >= static_cast<uint64_t>(size));
  return static_cast<int64_t>(value);
}

SampleSource::SampleSource(const TokenFile& file, SampleSourceOptions options)
    : file_(file), options_(std::move(options)) {
  if (file.header().vocab_size > options_.vocab_size) {
    throw TrainerError(ExitCode::kBadConfig,
                       file.path() + " was made with " + std::to_string(file.header().vocab_size) +
                           " token ids, but model.vocab_size is " +
                           std::to_string(options_.vocab_size) + "; raise model.vocab_size");
  }
  windows_ = file.size() > 0 ? (file.size() - 1) / options_.seq_length : 0;
  if (windows_ == 0) {
    throw TrainerError(ExitCode::kBadData, file.path() + " has " + std::to_string(file.size()) +
                                               " tokens, but one sample needs " +
                                               std::to_string(options_.seq_length + 1) +
                                               "; lower train.seq_length or prepare more data");
  }
}

void SampleSource::SetSkip(std::vector<SkipRange> skip) { options_.skip = std::move(skip); }

int64_t SampleSource::PositionOf(int64_t sample) const {
  return trainer::PositionOf(sample, options_.skip);
}

int64_t SampleSource::WindowOf(int64_t sample) const {
  const int64_t position = PositionOf(sample);
  const int64_t index = position % windows_;
  if (options_.order == SampleOrder::kSequential) return index;
  return PermuteIndex(options_.seed, position / windows_, windows_, index);
}

void SampleSource::Fill(int64_t sample, int64_t* tokens) const {
  const int64_t first = WindowOf(sample) * options_.seq_length;
  const int64_t largest = file_.Copy(first, options_.seq_length + 1, tokens);
  if (largest < options_.vocab_size) return;
  throw TrainerError(ExitCode::kBadData, file_.path() + ": token id " + std::to_string(largest) +
                                             " among tokens " + std::to_string(first) + " to " +
                                             std::to_string(first + options_.seq_length) +
                                             " is outside the model's vocabulary of " +
                                             std::to_string(options_.vocab_size) +
                                             "; raise model.vocab_size or prepare the data again");
}

}  // namespace trainyard::trainer
