// The fastest measured algorithms of matrix products, as stored in a file.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_TABLE_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Properties of a product that determine its algorithm. Members as in GemmArguments.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType input_type = ElementType::kBFloat16;
  ElementType output_type = ElementType::kBFloat16;
  bool has_c = false;
  bool c_is_d = false;
  bool has_bias = false;

  bool operator==(const GemmShape&) const = default;
};

struct GemmShapeHash {
  size_t operator()(const GemmShape& shape) const;
};

// A cublasLtMatmulAlgo_t, whose content is opaque.
using GemmAlgorithm = std::array<uint64_t, 8>;

// Valid for one device model and one cuBLASLt version, which determine the available algorithms.
class GemmTable {
 public:
  GemmTable(std::string device, int64_t version);

  std::optional<GemmAlgorithm> Find(const GemmShape& shape) const;
  void Set(const GemmShape& shape, const GemmAlgorithm& algorithm);

  // Adds the algorithms of a table written by Save. Adds nothing if the table is for another device
  // or version. Throws KernelError if it cannot be parsed. origin: for the message.
  void Add(std::string_view text, const std::string& origin);
  // Throws KernelError if the file cannot be written.
  void Save(const std::string& path) const;

 private:
  std::string device_;
  int64_t version_;
  std::unordered_map<GemmShape, GemmAlgorithm, GemmShapeHash> algorithms_;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_TABLE_H_
