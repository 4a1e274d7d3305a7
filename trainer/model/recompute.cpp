#include "trainer/model/recompute.h"

#include <torch/autograd.h>
#include <torch/utils.h>

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A block and its context, kept by the autograd graph for the backward pass.
struct RecomputedCall : torch::CustomClassHolder {
  RecomputedCall(const DecoderBlock& block_in, const BlockContext& context_in)
      : block(block_in), context(context_in) {}
  DecoderBlock block;
  BlockContext context;
};

class RecomputeFunction : public torch::autograd::Function<RecomputeFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const c10::intrusive_ptr<RecomputedCall>& call) {
    context->save_for_backward({x});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return call->block.Forward(x, call->context);
  }

  // Gradients of the parameters go straight into their leaves; only the input's is returned.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto capsule = context->saved_data["call"].toCapsule();
    const auto& call = static_cast<const RecomputedCall&>(*capsule);
    torch::AutoGradMode enable_grad(true);
    const Tensor x = context->get_saved_variables()[0].detach().requires_grad_(true);
    const Tensor y = call.block.Forward(x, call.context);
    torch::autograd::backward({y}, {gradients[0]});
    return {x.grad(), Tensor()};
  }
};

}  // namespace

Tensor ForwardWithRecompute(const DecoderBlock& block, const Tensor& x,
                            const BlockContext& context) {
  return RecomputeFunction::apply(x, c10::make_intrusive<RecomputedCall>(block, context));
}

}  // namespace trainyard::trainer
