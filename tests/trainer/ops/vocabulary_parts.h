// Cross-entropy over a vocabulary split into parts, for tests on any device.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_VOCABULARY_PARTS_H_
#define TRAINYARD_TESTS_TRAINER_OPS_VOCABULARY_PARTS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/ops/loss/vocabulary_cross_entropy.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

// Calls function(first_token, width) for each part.
template <typename Function>
void ForEachVocabularyPart(const std::vector<int64_t>& widths, const Function& function) {
  int64_t first_token = 0;
  for (const int64_t width : widths) {
    function(first_token, width);
    first_token += width;
  }
}

// Returns what CombineStatistics computes from the statistics of all parts. `logits` is [rows, sum
// of widths].
inline torch::Tensor CombinedOf(const torch::Tensor& logits, const torch::Tensor& target_tokens,
                                const std::vector<int64_t>& widths) {
  std::vector<torch::Tensor> statistics;
  ForEachVocabularyPart(widths, [&](int64_t first_token, int64_t width) {
    torch::Tensor& of_part = statistics.emplace_back(
        torch::empty({logits.size(0), kCrossEntropyStatistics},
                     logits.options().dtype(ComputeType(logits.scalar_type()))));
    CrossEntropyStatistics(logits.narrow(1, first_token, width).contiguous(), target_tokens,
                           first_token, of_part);
  });
  return CombineStatistics(torch::stack(statistics));
}

struct PartsResult {
  std::vector<double> losses;  // The loss, as each part computed it.
  torch::Tensor logits;        // Logits of all parts, after the pass.
};

inline PartsResult CrossEntropyOfParts(const torch::Tensor& logits, const Targets& targets,
                                       const std::vector<int64_t>& widths, LossPass pass) {
  const torch::Tensor combined = CombinedOf(logits, targets.tokens, widths);
  PartsResult result;
  std::vector<torch::Tensor> parts;
  ForEachVocabularyPart(widths, [&](int64_t first_token, int64_t width) {
    torch::Tensor part = logits.narrow(1, first_token, width).clone(at::MemoryFormat::Contiguous);
    torch::Tensor loss = torch::zeros({}, logits.options().dtype(torch::kFloat64));
    CrossEntropyOfPart(part, targets, first_token, combined, pass, loss);
    result.losses.push_back(loss.item<double>());
    parts.push_back(part);
  });
  result.logits = torch::cat(parts, 1);
  return result;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_OPS_VOCABULARY_PARTS_H_
