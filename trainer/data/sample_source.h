// The tokens of sample number i of a run: a pure function of (files, shares, seed, i).
//
// A blend of several files takes position p of its order from file BlendOrder::At(p).source, as
// position BlendOrder::At(p).index of that file's own order. A file of T tokens is
// cut into W = (T - 1) / seq_length windows of seq_length + 1 tokens (neighbours share one token:
// the last target of one is the first input of the next). Position p of its order, p = 0, 1, 2,
// ..., belongs to data epoch p / W and takes window Permute(seed, p / W, p % W): every window once
// in each data epoch, in another order each time. Sample number k of the run, as an optimizer
// counts them, is the k-th position (from 0) that no skip range holds. Nothing depends on ranks,
// micro-batches or layout, so a resume, a change of layout and a rollback all see the same samples.
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

// A permutation of [0, size): the place of `index`. O(1) memory and expected time.
// Precondition: 0 <= index < size.
int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index);

enum class SampleOrder {
  kShuffled,    // training
  kSequential,  // evaluation: position p takes window p % W
};

struct SampleSourceOptions {
  int64_t seq_length = 0;
  int64_t vocab_size = 0;  // of the model; ids must be smaller
  uint64_t seed = 0;
  SampleOrder order = SampleOrder::kShuffled;
  std::vector<SkipRange> skip;  // as ParseSkipRanges returns them
};

// A source of a blend. The shares say how many of (sum of shares) samples each source gives.
struct WeightedTokens {
  std::shared_ptr<const TokenFile> file;
  int64_t share = 1;
};

// Immutable but for SetSkip; safe to use from several threads.
class SampleSource {
 public:
  // Throws TrainerError: kBadConfig when a file's vocabulary is larger than the model's, kBadData
  // when a file is too short for one sample. Precondition: as BlendOrder's of the shares.
  SampleSource(std::vector<WeightedTokens> files, SampleSourceOptions options);
  // One file, which must outlive this.
  SampleSource(const TokenFile& file, SampleSourceOptions options);

  int64_t seq_length() const { return options_.seq_length; }
  int64_t sources() const { return static_cast<int64_t>(files_.size()); }
  const TokenFile& file(int64_t source) const { return *files_[source].file; }
  // Windows of a file: its samples of one data epoch where none is skipped.
  int64_t samples_per_epoch(int64_t source = 0) const { return windows_[source]; }
  // Positions before the first one that takes a window again.
  int64_t positions_before_repeat() const;
  // Data epochs of a file that the positions before sample number `sample` take.
  double PassesBefore(int64_t sample, int64_t source) const;

  // Replaces the skip ranges. To be called before other threads use this.
  void SetSkip(std::vector<SkipRange> skip);

  // Position in the sample order of sample number `sample` (the skip ranges are positions).
  int64_t PositionOf(int64_t sample) const;
  // File that sample number `sample` reads.
  int64_t SourceOf(int64_t sample) const;
  // Window of that file that it reads: tokens [window * seq_length, ... + seq_length].
  int64_t WindowOf(int64_t sample) const;
  // Writes the seq_length + 1 tokens of sample number `sample`. Throws kBadData when an id is not
  // smaller than the vocabulary.
  void Fill(int64_t sample, int64_t* tokens) const;

 private:
  int64_t WindowAt(const BlendOrder::Place& place) const;

  std::vector<WeightedTokens> files_;
  SampleSourceOptions options_;
  BlendOrder order_;
  std::vector<int64_t> windows_;  // Of each file.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_
