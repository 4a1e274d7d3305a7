#include "trainer/checkpoint/element_rows.h"

namespace trainyard::trainer {

torch::Tensor RowsOn(const ElementRows& elements, torch::Device device) {
  const torch::Tensor& rows = elements.rows;
  if (device.is_cpu() || rows.is_contiguous()) return rows.to(device);
  const int64_t span = (rows.size(0) - 1) * rows.stride(0) + rows.size(1);
  return rows.as_strided({span}, {1}).to(device).as_strided(rows.sizes(), rows.strides());
}

}  // namespace trainyard::trainer
