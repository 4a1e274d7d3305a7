// The tokens of sample number i of a run, as a pure function of (files, shares, seed, i).
//
// proto/samples/window_order.h defines the windows of a file and their order.
//
// In a blend of several files, position p is position StagedOrder::At(p).index in the order of file
// StagedOrder::At(p).source. Sample number k of the run, as counted by the optimizer, is the k-th
// position (from 0) that is not in a skip range. Samples do not depend on ranks, micro-batches or
// layout, so they are the same after a resume, a change of layout or a rollback.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_
#define TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/samples/blend_spans.h"
#include "proto/samples/skip_ranges.h"
#include "trainer/data/token_file.h"

namespace trainyard::trainer {

enum class SampleOrder {
  kShuffled,    // Training.
  kSequential,  // For evaluation: position p uses window p % W.
};

struct SampleSourceOptions {
  int64_t seq_length = 0;
  int64_t vocab_size = 0;  // Vocabulary size of the model. Token ids must be smaller.
  uint64_t seed = 0;
  SampleOrder order = SampleOrder::kShuffled;
  std::vector<SkipRange> skip;
};

// A source of a blend. Out of every S samples, where S is the sum of all shares, `share` samples
// come from this source. SetSpans replaces the shares.
struct WeightedTokens {
  std::shared_ptr<const TokenFile> file;
  int64_t share = 1;
};

// Reads the samples of a run. Immutable except for SetSkip and SetSpans. Several threads may use
// it.
class SampleSource {
 public:
  // Throws TrainerError: kBadConfig if a file's vocabulary is larger than the model's, kBadData if
  // a file is too short for one sample. The shares must meet the preconditions of BlendOrder.
  SampleSource(std::vector<WeightedTokens> files, SampleSourceOptions options);
  // Reads from a single file, which must outlive this object.
  SampleSource(const TokenFile& file, SampleSourceOptions options);

  int64_t seq_length() const { return options_.seq_length; }
  int64_t sources() const { return static_cast<int64_t>(files_.size()); }
  const TokenFile& file(int64_t source) const { return *files_[source].file; }
  // Returns the number of windows of a file: the number of the file's samples in a data epoch
  // without skips.
  int64_t samples_per_epoch(int64_t source = 0) const { return windows_[source]; }
  // Returns the number of positions before the first position that repeats a window. Must not be
  // called after SetSpans.
  int64_t positions_before_repeat() const;
  // Returns the number of data epochs of file `source` that the positions before sample number
  // `sample` use. The number may have a fraction.
  double PassesBefore(int64_t sample, int64_t source) const;
  // Returns the number of positions of file `source` before sample number `sample`.
  int64_t CountBefore(int64_t sample, int64_t source) const;

  // Replaces the skip ranges. Must be called before other threads use this object.
  void SetSkip(std::vector<SkipRange> skip);
  // Replaces the shares of the files by the result of ContinuedSpans. Must be called before other
  // threads use this object.
  void SetSpans(std::vector<BlendSpan> spans);
  const std::vector<BlendSpan>& spans() const { return order_.spans(); }

  // Returns the position of sample number `sample` in the sample order. Skip ranges are ranges of
  // such positions.
  int64_t PositionOf(int64_t sample) const;
  // Writes the seq_length + 1 tokens of sample number `sample` to `tokens`. Throws kBadData if a
  // token id is outside the vocabulary.
  void Fill(int64_t sample, int64_t* tokens) const;
  // Checks the token ids of up to `windows` windows per file, spread evenly over the file. Throws
  // kBadData as Fill does.
  void CheckTokens(int64_t windows) const;

 private:
  void FillWindow(int64_t source, int64_t window, int64_t* tokens) const;
  int64_t WindowAt(const BlendOrder::Place& place) const;

  std::vector<WeightedTokens> files_;
  SampleSourceOptions options_;
  StagedOrder order_;
  std::vector<int64_t> windows_;  // By file.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_SOURCE_H_
