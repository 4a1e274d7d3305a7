// Describes one matrix product to cuBLASLt.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_PLAN_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_PLAN_H_

#include <cublasLt.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "trainer/kernels/gemm/gemm_arguments.h"
#include "trainer/kernels/gemm/gemm_table.h"

namespace trainyard::trainer::kernels {

// The size of cuBLASLt's workspace for partial sums. NVIDIA recommends 32 MiB on Hopper. Twice that
// size lets cuBLASLt split even the largest weight gradients.
constexpr size_t kGemmWorkspaceBytes = 64U << 20;

// The number of algorithms that are compared for a product. cuBLASLt 13.1 proposes at most 8.
constexpr int kGemmCandidates = 16;

// Returns the alignment of a product's operands in bytes, at most 16. The widest loads of cuBLASLt,
// including tensor copies, are 16 bytes. If larger alignments were reported, the algorithm and
// therefore the last bits of the result would depend on where the allocator placed a tensor.
int GemmAlignment(const GemmArguments& arguments);

// Throws KernelError if cuBLASLt has no FP8 product of this form. Accepts all other products.
void CheckFp8Product(const GemmArguments& arguments);

// Throws KernelError unless the status is success.
void CheckCublas(cublasStatus_t status, const char* operation);

class GemmPlan {
 public:
  explicit GemmPlan(const GemmShape& shape);

  // Returns at most `limit` algorithms that cuBLASLt proposes for memory of this alignment, the
  // most promising first. Throws KernelError if cuBLASLt proposes none.
  std::vector<cublasLtMatmulAlgo_t> Candidates(cublasLtHandle_t handle, int alignment,
                                               int limit) const;

  // Returns the candidate with the shortest predicted time (gemm_choice.h), or cuBLASLt's first
  // proposal if nothing can be predicted: for fp32 and FP8 factors, and on devices other than
  // Hopper's. The result depends only on the shape, the device model and the version of cuBLASLt.
  cublasLtMatmulAlgo_t Predicted(cublasLtHandle_t handle, const GemmShape& shape,
                                 int alignment) const;

  // True if the algorithm can run on this device with this workspace.
  bool Accepts(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm) const;

  // Sets the bias that later products add. Null for a shape without a bias.
  void SetBias(const void* bias) const;

  // Sets the tensor that later products with GELU write or read. Null for other products.
  void SetGeluInput(void* gelu_input) const;

  // Sets the factors of later FP8 products. Null for other products.
  void SetFactors(const float* a_factor, const float* b_factor) const;

  // Sets the number of rows of the next product: m, or k if transpose_a. This number must not
  // exceed the number of rows of the shape.
  void SetRows(int64_t rows, bool transpose_a) const;

  // Sets the algorithm that Run uses.
  void Choose(const cublasLtMatmulAlgo_t& algorithm) { algorithm_ = algorithm; }

  cublasStatus_t Run(cublasLtHandle_t handle, const GemmArguments& arguments, void* workspace,
                     cudaStream_t stream) const;

 private:
  template <typename Descriptor, cublasStatus_t (*destroy)(Descriptor*)>
  struct Destroy {
    void operator()(Descriptor* descriptor) const { destroy(descriptor); }
  };
  using Operation =
      std::unique_ptr<cublasLtMatmulDescOpaque_t,
                      Destroy<cublasLtMatmulDescOpaque_t, &cublasLtMatmulDescDestroy>>;
  using Layout =
      std::unique_ptr<cublasLtMatrixLayoutOpaque_t,
                      Destroy<cublasLtMatrixLayoutOpaque_t, &cublasLtMatrixLayoutDestroy>>;

  static Operation MakeOperation(const GemmShape& shape);
  static Layout MakeLayout(ElementType type, bool transposed, int64_t rows, int64_t columns);

  // cuBLASLt is column-major, so its A is our b and its B is our a.
  Operation operation_;
  Layout layout_a_;
  Layout layout_b_;
  Layout layout_c_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_PLAN_H_
