// Adaptive gradient clipping (Brock et al. 2021, arXiv 2102.06171), exact on any layout.
#ifndef TRAINYARD_TRAINER_STEP_ADAPTIVE_CLIP_H_
#define TRAINYARD_TRAINER_STEP_ADAPTIVE_CLIP_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/decoder.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// The gradient G of a unit with weights W is scaled by ratio * max(|W|, 1e-3) / |G| where that is
// below 1. Units are those of the authors' code: each row of a matrix (an output; a token's vector
// of the embedding), each vector as a whole. The head's matrix is left out, as the authors leave
// out the last layer; a tied one is the embedding's, so neither is clipped.
//
// A rank may have a part of a unit only: columns (tensor parallelism), or any neighbouring elements
// (ZeRO). Each element's squares are counted by one rank, and one sum over all ranks makes the
// norms of all units of the model the same bits everywhere: copies of a weight stay equal. That is
// 16 bytes for each unit, 45 MB for a LLaMA of 70B. One thread at a time; everything given must
// outlive this.
class AdaptiveClip {
 public:
  // All ranks make one at the same time.
  AdaptiveClip(double ratio, const ModelConfig& model, Decoder& decoder, const RankGroups& groups);

  // Clips the complete gradients that this rank keeps, and sets kClippedUnits of `step_values`:
  // those of the whole model on the first rank, 0 on others.
  void Apply(torch::Tensor& step_values) const;

 private:
  // Neighbouring elements that are whole rows of `columns` elements, or a part of one row.
  struct Piece {
    int64_t group = 0;
    ElementRange range;
    int64_t columns = 0;
    int64_t unit = 0;      // Of the first row, among those of the whole model.
    bool counted = false;  // By this rank.

    int64_t rows() const { return range.length / columns; }
  };

  void NumberUnits(const std::string& left_out, const Decoder& decoder);
  void AddPieces(const StoredSlice& slice);
  torch::Tensor Weights(const Piece& piece) const;
  torch::Tensor Gradients(const Piece& piece) const;
  torch::Tensor Squares() const;

  const double ratio_;
  const ParameterStore& store_;
  const RankGroups& groups_;
  std::map<std::string, int64_t> first_units_;  // By logical tensor of this stage.
  int64_t units_ = 0;                           // Of the whole model.
  std::vector<Piece> pieces_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_ADAPTIVE_CLIP_H_
