#include "trainer/step/pipeline.h"

#include <utility>

#include "trainer/step/stage_streams.h"

namespace trainyard::trainer {

using torch::Tensor;
using Schedule = std::vector<StageAction>;

// One step, or one evaluation.
class Pipeline::Run {
 public:
  Run(const Pipeline& pipeline, const MicroBatches& batches, Stash::Mode mode)
      : model_(pipeline.model_),
        zero_bubble_(pipeline.zero_bubble_),
        batches_(batches),
        mode_(mode),
        activations_(pipeline.links_.activations_from.get(),
                     ActivationArrivals(place(), ScheduleOf(StageBefore(place()))), maker()),
        gradients_(pipeline.links_.gradients_from.get(),
                   GradientArrivals(place(), ScheduleOf(StageAfter(place()))), maker()),
        activation_sender_(pipeline.links_.activations_to.get()),
        gradient_sender_(pipeline.links_.gradients_to.get()) {}

  // gradients: null without backward passes.
  void Execute(Tensor& loss, WeightGradients* gradients) {
    for (const StageAction& action : ScheduleOf(place())) {
      const ChunkPass pass{action.chunk, action.micro_batch};
      if (action.kind == StageAction::Kind::kForward || gradients == nullptr) {
        Forward(pass, loss, gradients);
      } else if (action.kind == StageAction::Kind::kBackward) {
        Backward(pass, *gradients);
      } else {
        gradients->RunOldest();
      }
    }
    activation_sender_.Join();
    gradient_sender_.Join();
  }

 private:
  // A pass between its forward and its backward half.
  struct Passing {
    MicroBatch micro_batch;
    Tensor gradient;  // Of the output, where the head is.
  };

  const PipelinePlace& place() const { return model_.place(); }

  Schedule ScheduleOf(const PipelinePlace& place) const {
    return mode_ == Stash::Mode::kKeep ? TrainingSchedule(place, batches_.count, zero_bubble_)
                                       : EvaluationSchedule(place, batches_.count);
  }

  StageReceiver::MakeTensor maker() const {
    return [this](const ChunkPass&) {
      return model_.NewActivations(batches_.samples, batches_.length);
    };
  }

  // The tokens of a micro-batch, which its passes through all chunks need.
  const TrainingTokens& TokensOf(int64_t micro_batch) {
    while (next_ <= micro_batch) {
      tokens_.emplace(next_, batches_.tokens(next_));
      ++next_;
    }
    return tokens_.at(micro_batch);
  }

  void Forward(const ChunkPass& pass, Tensor& loss, WeightGradients* gradients) {
    const bool is_first = place().HasEmbedding(pass.chunk), is_last = place().HasHead(pass.chunk);
    MicroBatch micro_batch = model_.Begin(pass.chunk, TokensOf(pass.micro_batch), mode_);
    if (pass.chunk == place().chunks - 1) tokens_.erase(pass.micro_batch);
    Tensor x = is_first ? Tensor() : activations_.Receive(pass);
    x = model_.Forward(pass.chunk, std::move(x), micro_batch);
    if (!is_last) activation_sender_.Send(x);
    if (gradients == nullptr) {
      if (is_last) model_.Loss(x, micro_batch, loss);
      return;
    }
    Tensor gradient;
    if (is_last) gradient = model_.LossAndGradient(x, micro_batch, loss, *gradients);
    passing_.emplace(pass, Passing{std::move(micro_batch), std::move(gradient)});
  }

  void Backward(const ChunkPass& pass, WeightGradients& gradients) {
    Passing passing = std::move(passing_.at(pass));
    passing_.erase(pass);
    Tensor dy =
        place().HasHead(pass.chunk) ? std::move(passing.gradient) : gradients_.Receive(pass);
    Tensor dx = model_.Backward(pass.chunk, std::move(dy), passing.micro_batch, gradients);
    gradients.EndPass();
    if (dx.defined()) gradient_sender_.Send(std::move(dx));
  }

  const Decoder& model_;
  const bool zero_bubble_;
  const MicroBatches& batches_;
  const Stash::Mode mode_;
  StageReceiver activations_;
  StageReceiver gradients_;
  StageSender activation_sender_;
  StageSender gradient_sender_;
  std::map<int64_t, TrainingTokens> tokens_;  // By micro-batch.
  int64_t next_ = 0;                          // Micro-batch whose tokens were not asked for.
  std::map<ChunkPass, Passing> passing_;
};

void Pipeline::Train(const MicroBatches& batches, Tensor& loss, WeightGradients& gradients) const {
  Run(*this, batches, Stash::Mode::kKeep).Execute(loss, &gradients);
}

void Pipeline::Evaluate(const MicroBatches& batches, Tensor& loss) const {
  Run(*this, batches, Stash::Mode::kDiscard).Execute(loss, nullptr);
}

}  // namespace trainyard::trainer
