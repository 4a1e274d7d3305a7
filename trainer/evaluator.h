// The loss on fixed samples of val.bin, the same number for every data-parallel size.
#ifndef TRAINYARD_TRAINER_EVALUATOR_H_
#define TRAINYARD_TRAINER_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "proto/contract/run_config.h"
#include "trainer/data/sample_source.h"
#include "trainer/data/token_file.h"
#include "trainer/model/decoder.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

struct EvaluationResult {
  double loss = 0;  // Mean nats a token.
  int64_t tokens = 0;
};

// The model and the communicator must outlive this.
class Evaluator {
 public:
  // Opens val.bin. Throws what TokenFile and SampleSource throw.
  Evaluator(const RunConfig& config, Decoder& model, Communicator& communicator,
            torch::Device device);

  // All members call it together. Batches of micro_batch samples are divided among the members; the
  // sums of the batches are then added in one fixed order, so that the result does not depend on
  // which member computed which batch. Before each batch the members decide together whether to go
  // on: nullopt on all of them as soon as `stop_requested` is true on one.
  std::optional<EvaluationResult> Run(const std::function<bool()>& stop_requested);

  int64_t samples() const { return samples_; }

 private:
  bool AnyMemberStops(bool this_one) const;
  double SumOfBatch(int64_t batch);

  TokenFile file_;
  SampleSource source_;
  Decoder& model_;
  Communicator& communicator_;
  torch::Device device_;
  int64_t batch_samples_;
  int64_t samples_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_EVALUATOR_H_
