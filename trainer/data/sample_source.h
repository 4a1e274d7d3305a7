// The tokens of sample number i of a run, as a pure function of (files, shares, seed, i).
//
// In a blend of several files, position p is position BlendOrder::At(p).index of the own order of
// file BlendOrder::At(p).source. A file of T tokens is cut into W = (T - 1) / seq_length windows of
// seq_length + 1 tokens. Neighbouring windows share one token: the last target of one is the first
// input of the next. Position p = 0, 1, 2, ... of the file's order belongs to data epoch p / W and
// uses window Permute(seed, p / W, p % W): each data epoch has every window once, in a different
// order. Sample number k of the run, as counted by the optimizer, is the k-th position (from 0)
// outside of all skip ranges. Samples do not depend on ranks, micro-batches or layout, so they are
// the same after a resume, a change of layout or a rollback.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_
#define TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/data/blend_order.h"
#include "trainer/data/skip_ranges.h"
#include "trainer/data/token_file.h"

namespace trainyard::trainer {

// Maps `index` to its place in a permutation of [0, size). O(1) memory and expected time.
// Precondition: 0 <= index < size.
int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index);

enum class SampleOrder {
  kShuffled,    // Training.
  kSequential,  // Evaluation: position p uses window p % W.
};

struct SampleSourceOptions {
  int64_t seq_length = 0;
  int64_t vocab_size = 0;  // Vocabulary of the model; ids must be smaller.
  uint64_t seed = 0;
  SampleOrder order = SampleOrder::kShuffled;
  std::vector<SkipRange> skip;  // From ParseSkipRanges.
};

// A source of a blend. It supplies `share` of every (sum of shares) samples.
struct WeightedTokens {
  std::shared_ptr<const TokenFile> file;
  int64_t share = 1;
};

// Immutable except for SetSkip. Safe to use from several threads.
class SampleSource {
 public:
  // Throws TrainerError: kBadConfig if a file's vocabulary is larger than the model's, kBadData if
  // a file is too short for one sample. Preconditions on the shares: see BlendOrder.
  SampleSource(std::vector<WeightedTokens> files, SampleSourceOptions options);
  // A single file, which must outlive this.
  SampleSource(const TokenFile& file, SampleSourceOptions options);

  int64_t seq_length() const { return options_.seq_length; }
  int64_t sources() const { return static_cast<int64_t>(files_.size()); }
  const TokenFile& file(int64_t source) const { return *files_[source].file; }
  // Number of windows of a file: its samples per data epoch without skips.
  int64_t samples_per_epoch(int64_t source = 0) const { return windows_[source]; }
  // Number of positions before the first one that repeats a window.
  int64_t positions_before_repeat() const;
  // Number of data epochs of file `source` used by the positions before sample number `sample`.
  double PassesBefore(int64_t sample, int64_t source) const;

  // Replaces the skip ranges. Call it before other threads use this.
  void SetSkip(std::vector<SkipRange> skip);

  // Position of sample number `sample` in the sample order. Skip ranges are positions.
  int64_t PositionOf(int64_t sample) const;
  // Writes the seq_length + 1 tokens of sample number `sample`. Throws kBadData if an id is outside
  // the vocabulary.
  void Fill(int64_t sample, int64_t* tokens) const;

 private:
  int64_t WindowAt(const BlendOrder::Place& place) const;

  std::vector<WeightedTokens> files_;
  SampleSourceOptions options_;
  BlendOrder order_;
  std::vector<int64_t> windows_;  // By file.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_
