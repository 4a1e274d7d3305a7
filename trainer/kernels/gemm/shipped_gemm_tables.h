// The tables in gemm_tables/, which the build embeds as text.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_SHIPPED_GEMM_TABLES_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_SHIPPED_GEMM_TABLES_H_

#include <string_view>
#include <vector>

namespace trainyard::trainer::kernels {

// Returns one text per device model and cuBLASLt version.
std::vector<std::string_view> ShippedGemmTables();

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_SHIPPED_GEMM_TABLES_H_
