#include "trainer/ops/swiglu.h"

#include <torch/autograd.h>

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class SwiGluFunction : public torch::autograd::Function<SwiGluFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& packed) {
    context->save_for_backward({packed});
    const int64_t width = packed.size(-1) / 2;
    return at::silu(packed.narrow(-1, 0, width)).mul_(packed.narrow(-1, width, width));
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor packed = context->get_saved_variables()[0];
    const int64_t width = packed.size(-1) / 2;
    const Tensor gate = packed.narrow(-1, 0, width);
    const Tensor up = packed.narrow(-1, width, width);
    const Tensor out = torch::empty_like(packed);
    Tensor up_gradient = out.narrow(-1, width, width);
    at::silu_out(up_gradient, gate);
    up_gradient.mul_(gradients[0]);
    Tensor gate_gradient = out.narrow(-1, 0, width);
    at::silu_backward_out(gate_gradient, gradients[0] * up, gate);
    return {out};
  }
};

}  // namespace

Tensor SwiGlu(const Tensor& packed) { return SwiGluFunction::apply(packed); }

}  // namespace trainyard::trainer
