#include "trainer/step/adaptive_clip.h"

#include <algorithm>

#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Lower limit for the norm of a unit's weights, so that zero weights can begin to learn (section
// 4.1 of the paper).
constexpr double kSmallestNorm = 1e-3;

int64_t UnitsOf(const LogicalTensorSlice& slice) {
  return slice.global_shape.size() > 1 ? slice.global_shape[0] : 1;
}

int64_t ColumnsOf(const LogicalTensorSlice& slice) {
  return slice.shape.size() > 1 ? slice.shape[1] : slice.shape[0];
}

// Returns the sum of squares of each row, in fp64, because the square of an fp32 value may be out
// of the range of fp32.
Tensor SquaresOfRows(const Tensor& rows) {
  return at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, /*keepdim=*/false, torch::kFloat64)
      .square();
}

}  // namespace

AdaptiveClip::AdaptiveClip(double ratio, const ModelConfig& model, Decoder& decoder,
                           const RankGroups& groups)
    : ratio_(ratio), store_(decoder.parameters()), groups_(groups) {
  NumberUnits(Decoder::HeadTensor(model), decoder);
  for (const StoredSlice& slice : store_.slices()) {
    if (first_units_.count(slice.logical.name) > 0) AddPieces(slice);
  }
}

// Assigns numbers to the units of all stages, one stage after another. All ranks of a stage number
// the same logical tensors, including the tensors of experts on other ranks.
void AdaptiveClip::NumberUnits(const std::string& left_out, const Decoder& decoder) {
  int64_t here = 0;
  for (const LogicalTensorSlice& logical : decoder.TensorsOfStage()) {
    if (logical.name == left_out || first_units_.count(logical.name) > 0) continue;
    first_units_[logical.name] = here;
    here += UnitsOf(logical);
  }
  const PipelinePlace& place = decoder.place();
  std::vector<double> of_stages(place.stages, 0);
  const bool is_reporter =
      groups_.tensor->rank() == 0 && groups_.shard->rank() == 0 && groups_.replica->rank() == 0;
  if (is_reporter) of_stages[place.stage] = static_cast<double>(here);
  of_stages = SumOverMembers(*groups_.world, of_stages, store_.device());
  int64_t before = 0;
  for (int64_t stage = 0; stage < place.stages; ++stage) {
    const auto units = static_cast<int64_t>(of_stages[stage]);
    if (stage < place.stage) before += units;
    units_ += units;
  }
  for (auto& [_, first] : first_units_) first += before;
}

// This rank's part of a slice may begin and end within a row. This part is therefore split into the
// rest of its first row, whole rows, and the beginning of its last row.
void AdaptiveClip::AddPieces(const StoredSlice& slice) {
  const LogicalTensorSlice& logical = slice.logical;
  const bool is_counted = store_.PartsOf(slice.group).counts && logical.is_first_holder;
  const int64_t columns = ColumnsOf(logical);
  const int64_t first_unit =
      first_units_[logical.name] + (logical.shape.size() > 1 ? logical.offset[0] : 0);
  const ElementRange kept = Intersect(slice.range, store_.OwnedOf(slice.group));
  for (int64_t next = kept.first; next < kept.end();) {
    const int64_t place = next - slice.range.first, left = kept.end() - next;
    const bool is_at_row = place % columns == 0 && left >= columns;
    const int64_t length =
        is_at_row ? left / columns * columns : std::min(columns - place % columns, left);
    pieces_.push_back({slice.group,
                       {next, length},
                       is_at_row ? columns : length,
                       first_unit + place / columns,
                       is_counted});
    next += length;
  }
}

// Returns the master weights of a piece.
Tensor AdaptiveClip::Weights(const Piece& piece) const {
  Tensor values = store_.Values(piece.group, piece.range);
  if (store_.masters().defined()) {
    values = store_.State(store_.masters(), piece.group, piece.range);
  } else if (store_.low_bits().defined()) {
    values = JoinMasterWeights(values, store_.State(store_.low_bits(), piece.group, piece.range));
  }
  return values.view({piece.rows(), piece.columns});
}

Tensor AdaptiveClip::Gradients(const Piece& piece) const {
  return store_.Gradients(piece.group, piece.range).view({piece.rows(), piece.columns});
}

// Returns the squared norms of weights and gradients, [2, units].
Tensor AdaptiveClip::Squares() const {
  Tensor squares = torch::zeros({2, units_}, store_.gradients().options().dtype(torch::kFloat64));
  for (const Piece& piece : pieces_) {
    if (!piece.counted) continue;
    const Tensor of_units = squares.narrow(1, piece.unit, piece.rows());
    of_units[0].add_(SquaresOfRows(Weights(piece)));
    of_units[1].add_(SquaresOfRows(Gradients(piece)));
  }
  groups_.world->AllReduce(squares).Wait();
  return squares;
}

// If a norm is not finite, comparisons with the norm are false or the scale is 0 or NaN. The
// gradient norm then stays non-finite, and the step is rejected as it would be without clipping.
void AdaptiveClip::Apply(double loss_scale, Tensor& step_values) const {
  const Tensor norms = Squares().sqrt_();
  const Tensor limits = norms[0].clamp_min(kSmallestNorm).mul_(ratio_ * loss_scale);
  const Tensor is_clipped = norms[1] > limits;
  const Tensor scales = torch::where(is_clipped, limits / norms[1], torch::ones_like(limits));
  for (const Piece& piece : pieces_) {
    const Tensor gradients = Gradients(piece);
    const Tensor rows = scales.narrow(0, piece.unit, piece.rows()).unsqueeze(1);
    gradients.mul_(rows.to(gradients.scalar_type()));
  }
  Tensor count = step_values[static_cast<int64_t>(StepValue::kClippedUnits)];
  if (groups_.world->rank() == 0) count.copy_(is_clipped.sum());
}

}  // namespace trainyard::trainer
