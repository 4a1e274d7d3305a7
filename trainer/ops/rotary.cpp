#include "trainer/ops/rotary.h"

#include <torch/autograd.h>

#include "trainer/ops/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Writes x turned by the table's angles (or back, when direction is -1) into out. Both are
// [batch, heads, length, head_size] with any strides.
void RotateInto(Tensor out, const Tensor& x, const RotaryTable& table, double direction) {
  const int64_t half = x.size(-1) / 2;
  const bool narrow_type = ComputeType(x.scalar_type()) != x.scalar_type();
  const Tensor wide = narrow_type ? x.to(ComputeType(x.scalar_type())) : x;
  Tensor turned = narrow_type ? torch::empty_like(wide) : out;
  Tensor out_first = turned.narrow(-1, 0, half);
  Tensor out_second = turned.narrow(-1, half, half);
  const Tensor first = wide.narrow(-1, 0, half);
  const Tensor second = wide.narrow(-1, half, half);
  at::mul_out(out_first, first, table.cos);
  out_first.addcmul_(second, table.sin, -direction);
  at::mul_out(out_second, second, table.cos);
  out_second.addcmul_(first, table.sin, direction);
  if (narrow_type) out.copy_(turned);
}

class SplitAndRotateFunction : public torch::autograd::Function<SplitAndRotateFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& packed, const Tensor& cos,
                               const Tensor& sin, int64_t query_heads, int64_t key_heads) {
    const int64_t batch = packed.size(0), length = packed.size(1), size = 2 * cos.size(-1);
    context->save_for_backward({cos, sin});
    context->saved_data["query_heads"] = query_heads;
    context->saved_data["key_heads"] = key_heads;
    const Tensor heads = packed.view({batch, length, -1, size}).transpose(1, 2);
    const RotaryTable table{cos, sin};
    Tensor query = torch::empty({batch, query_heads, length, size}, packed.options());
    Tensor key = torch::empty({batch, key_heads, length, size}, packed.options());
    RotateInto(query, heads.narrow(1, 0, query_heads), table, 1);
    RotateInto(key, heads.narrow(1, query_heads, key_heads), table, 1);
    const Tensor value =
        heads.narrow(1, query_heads + key_heads, key_heads).clone(at::MemoryFormat::Contiguous);
    return {query, key, value};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const RotaryTable table{saved[0], saved[1]};
    const int64_t query_heads = context->saved_data["query_heads"].toInt();
    const int64_t key_heads = context->saved_data["key_heads"].toInt();
    const Tensor& query = gradients[0];
    const int64_t batch = query.size(0), length = query.size(2), size = query.size(3);
    const Tensor packed =
        torch::empty({batch, length, query_heads + 2 * key_heads, size}, query.options());
    const Tensor heads = packed.transpose(1, 2);
    RotateInto(heads.narrow(1, 0, query_heads), query, table, -1);
    RotateInto(heads.narrow(1, query_heads, key_heads), gradients[1], table, -1);
    heads.narrow(1, query_heads + key_heads, key_heads).copy_(gradients[2]);
    return {packed.view({batch, length, -1}), Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

RotaryTable MakeRotaryTable(int64_t positions, int64_t head_size, double base,
                            torch::ScalarType type, torch::Device device) {
  const auto exact = torch::TensorOptions().dtype(torch::kFloat64);
  const Tensor exponents = torch::arange(0, head_size, 2, exact) / static_cast<double>(head_size);
  const Tensor frequencies = torch::pow(base, exponents).reciprocal();
  const Tensor angles = torch::outer(torch::arange(positions, exact), frequencies);
  return {angles.cos().to(type).to(device), angles.sin().to(type).to(device)};
}

QueryKeyValue SplitAndRotate(const Tensor& packed, const RotaryTable& table,
                             const AttentionHeads& heads) {
  const auto parts = SplitAndRotateFunction::apply(packed, table.cos, table.sin, heads.query_heads,
                                                   heads.key_heads);
  return {parts[0], parts[1], parts[2]};
}

}  // namespace trainyard::trainer
