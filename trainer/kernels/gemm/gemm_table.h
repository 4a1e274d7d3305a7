// A table of the fastest measured algorithms for matrix products, which can be stored in a file.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_TABLE_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trainer/kernels/element_type.h"
#include "trainer/kernels/gemm/gemm_arguments.h"

namespace trainyard::trainer::kernels {

// The properties of a product that determine its algorithm. The members have the same meaning as in
// GemmArguments.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType a_type = ElementType::kBFloat16;
  ElementType b_type = ElementType::kBFloat16;
  ElementType output_type = ElementType::kBFloat16;
  bool has_c = false;
  bool c_is_d = false;
  bool has_bias = false;
  GemmEpilogue epilogue = GemmEpilogue::kNone;
  bool fast_accumulation = false;

  bool operator==(const GemmShape&) const = default;
};

struct GemmShapeHash {
  size_t operator()(const GemmShape& shape) const;
};

// A cublasLtMatmulAlgo_t. Its contents are opaque.
using GemmAlgorithm = std::array<uint64_t, 8>;

// A table for one device model and one version of cuBLASLt. These two determine which algorithms
// exist.
class GemmTable {
 public:
  GemmTable(std::string device, int64_t version);

  std::optional<GemmAlgorithm> Find(const GemmShape& shape) const;
  void Set(const GemmShape& shape, const GemmAlgorithm& algorithm);

  // Adds the algorithms of a table that Save has written. Adds nothing if the table is for another
  // device model or version. Throws KernelError if the table cannot be parsed. `origin` names the
  // table in the message.
  void Add(std::string_view text, const std::string& origin);
  // Throws KernelError if the file cannot be written.
  void Save(const std::string& path) const;

 private:
  std::string device_;
  int64_t version_;
  std::unordered_map<GemmShape, GemmAlgorithm, GemmShapeHash> algorithms_;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_TABLE_H_
