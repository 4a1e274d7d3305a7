// Adaptive gradient clipping (Brock et al. 2021, arXiv 2102.06171), with the same result in every
// layout.
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

// Multiplies the gradient G of a unit with weights W by ratio * max(|W|, 1e-3) / |G| if this factor
// is less than 1. As in the authors' code, a unit is a row of a matrix (an output, or a token's
// embedding) or a whole vector. The head's matrix is not clipped, because the authors exclude the
// last layer. If the head is tied, its matrix is the embedding, so the embedding is not clipped
// either.
//
// A rank may have only a part of a unit: columns (tensor parallelism) or any consecutive elements
// (ZeRO). Each element is counted by one rank. One sum over all ranks gives the norms of all units
// of the model, with the same bits on every rank, so that copies of a weight stay equal. The sum
// takes 16 bytes per unit, which is 45 MB for a 70B LLaMA. Not thread-safe. All arguments must
// outlive this object.
class AdaptiveClip {
 public:
  // Collective: all ranks must construct an AdaptiveClip at the same time.
  AdaptiveClip(double ratio, const ModelConfig& model, Decoder& decoder, const RankGroups& groups);

  // Clips this rank's gradients, which must be complete. Sets kClippedUnits of `step_values` to the
  // number of clipped units of the whole model on the first rank, and to 0 on the other ranks. The
  // gradients include the factor `loss_scale`.
  void Apply(double loss_scale, torch::Tensor& step_values) const;

 private:
  // Consecutive elements: either whole rows of `columns` elements, or a part of one row.
  struct Piece {
    int64_t group = 0;
    ElementRange range;
    int64_t columns = 0;
    int64_t unit = 0;      // Unit of the first row, numbered over the whole model.
    bool counted = false;  // True if this rank counts the piece.

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
  std::map<std::string, int64_t> first_units_;  // First unit of each logical tensor of the stage.
  int64_t units_ = 0;                           // Units of the whole model.
  std::vector<Piece> pieces_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_ADAPTIVE_CLIP_H_
