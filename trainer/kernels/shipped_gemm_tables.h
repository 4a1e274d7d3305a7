// The tables of gemm_tables/, which the build turns into text of the program.
#ifndef TRAINYARD_TRAINER_KERNELS_SHIPPED_GEMM_TABLES_H_
#define TRAINYARD_TRAINER_KERNELS_SHIPPED_GEMM_TABLES_H_

#include <string_view>
#include <vector>

namespace trainyard::trainer::kernels {

// One text for each device model and version of cuBLASLt.
std::vector<std::string_view> ShippedGemmTables();

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_SHIPPED_GEMM_TABLES_H_
