#include "trainer/ops/activation.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

const char* ApproximationOf(Activation gelu) {
  return gelu == Activation::kGeluTanh ? "tanh" : "none";
}

// The type of `x` must be a compute type.
Tensor Activated(Activation kind, const Tensor& x) {
  if (kind == Activation::kSquaredRelu) return at::relu(x).square_();
  return at::gelu(x, ApproximationOf(kind));
}

Tensor GradientOfActivated(Activation kind, const Tensor& dout, const Tensor& x) {
  if (kind == Activation::kSquaredRelu) return at::relu(x).mul_(2).mul_(dout);
  return at::gelu_backward(dout, x, ApproximationOf(kind));
}

}  // namespace

void ActivationForward(Activation kind, const Tensor& packed, Tensor& out) {
  if (kind == Activation::kSwiglu) return SwiGluForward(packed, out);
  if (gpu::HasKernels(packed)) return gpu::ActivationForward(kind, packed, out);
  out.copy_(Activated(kind, packed.to(ComputeType(out.scalar_type()))));
}

void ActivationBackward(Activation kind, const Tensor& dout, const Tensor& packed, Tensor& d_packed,
                        Tensor& out) {
  if (kind == Activation::kSwiglu) return SwiGluBackward(dout, packed, d_packed, out);
  if (gpu::HasKernels(dout)) return gpu::ActivationBackward(kind, dout, packed, d_packed, out);
  const auto compute = ComputeType(dout.scalar_type());
  const Tensor x = packed.to(compute);
  if (out.defined()) out.copy_(Activated(kind, x));  // Done first, because d_packed may be packed.
  d_packed.copy_(GradientOfActivated(kind, dout.to(compute), x));
}

void SwiGluForward(const Tensor& packed, Tensor& out) {
  if (gpu::HasKernels(packed)) return gpu::SwiGluForward(packed, out);
  const auto compute = ComputeType(out.scalar_type());
  if (compute != out.scalar_type()) {  // Computes in the wider type and rounds once.
    Tensor wide = torch::empty_like(out, compute);
    SwiGluForward(packed.to(compute), wide);
    out.copy_(wide);
    return;
  }
  const int64_t width = out.size(-1);
  at::silu_out(out, packed.narrow(-1, 0, width));
  out.mul_(packed.narrow(-1, width, width));
}

void SwiGluBackward(const Tensor& dout, const Tensor& packed, Tensor& d_packed, Tensor& out) {
  if (gpu::HasKernels(dout)) return gpu::SwiGluBackward(dout, packed, d_packed, out);
  const auto compute = ComputeType(dout.scalar_type());
  if (compute != dout.scalar_type()) {
    Tensor wide = packed.to(compute), again = out.defined() ? out.to(compute) : out;
    SwiGluBackward(dout.to(compute), wide, wide, again);
    d_packed.copy_(wide);
    if (out.defined()) out.copy_(again);
    return;
  }
  const int64_t width = dout.size(-1);
  const Tensor gate = packed.narrow(-1, 0, width);
  const Tensor up = packed.narrow(-1, width, width);
  const Tensor gated = at::silu(gate);
  if (out.defined()) at::mul_out(out, gated, up);
  Tensor d_gate = d_packed.narrow(-1, 0, width);
  Tensor d_up = d_packed.narrow(-1, width, width);
  const Tensor d_gated = dout * up;  // First, because d_up may share up's memory.
  at::mul_out(d_up, gated, dout);
  at::silu_backward_out(d_gate, d_gated, gate);
}

}  // namespace trainyard::trainer
