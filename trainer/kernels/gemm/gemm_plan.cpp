#include "trainer/kernels/gemm/gemm_plan.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/gemm/gemm_choice.h"

namespace trainyard::trainer::kernels {
namespace {

constexpr uintptr_t kMaxAlignment = 16;

cudaDataType_t CudaType(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return CUDA_R_32F;
    case ElementType::kBFloat16:
      return CUDA_R_16BF;
    case ElementType::kFloat16:
      return CUDA_R_16F;
    case ElementType::kFp8E4M3:
      return CUDA_R_8F_E4M3;
    case ElementType::kFp8E5M2:
      return CUDA_R_8F_E5M2;
  }
  return CUDA_R_32F;
}

struct TileSize {
  cublasLtMatmulTile_t tile;
  int64_t rows;
  int64_t columns;
};

// The tiles for which gemm_choice.h has costs. cuBLASLt has no function that returns these sizes.
constexpr TileSize kTileSizes[] = {
    {CUBLASLT_MATMUL_TILE_320x128, 320, 128}, {CUBLASLT_MATMUL_TILE_192x192, 192, 192},
    {CUBLASLT_MATMUL_TILE_128x256, 128, 256}, {CUBLASLT_MATMUL_TILE_256x128, 256, 128},
    {CUBLASLT_MATMUL_TILE_128x192, 128, 192}, {CUBLASLT_MATMUL_TILE_192x128, 192, 128},
    {CUBLASLT_MATMUL_TILE_256x96, 256, 96},   {CUBLASLT_MATMUL_TILE_176x128, 176, 128},
    {CUBLASLT_MATMUL_TILE_168x128, 168, 128}, {CUBLASLT_MATMUL_TILE_128x160, 128, 160},
    {CUBLASLT_MATMUL_TILE_320x64, 320, 64},   {CUBLASLT_MATMUL_TILE_144x128, 144, 128},
    {CUBLASLT_MATMUL_TILE_128x128, 128, 128}, {CUBLASLT_MATMUL_TILE_112x128, 112, 128},
    {CUBLASLT_MATMUL_TILE_64x256, 64, 256},   {CUBLASLT_MATMUL_TILE_256x64, 256, 64},
    {CUBLASLT_MATMUL_TILE_96x128, 96, 128},   {CUBLASLT_MATMUL_TILE_64x384, 64, 384},
    {CUBLASLT_MATMUL_TILE_384x64, 384, 64},   {CUBLASLT_MATMUL_TILE_64x192, 64, 192},
    {CUBLASLT_MATMUL_TILE_192x64, 192, 64},   {CUBLASLT_MATMUL_TILE_64x128, 64, 128},
    {CUBLASLT_MATMUL_TILE_128x64, 128, 64},   {CUBLASLT_MATMUL_TILE_96x64, 96, 64},
    {CUBLASLT_MATMUL_TILE_448x64, 448, 64},   {CUBLASLT_MATMUL_TILE_64x512, 64, 512},
    {CUBLASLT_MATMUL_TILE_512x64, 512, 64},
};

// Returns 0 rows and columns for a tile without a cost.
TileSize SizeOfTile(uint32_t tile) {
  for (const TileSize& size : kTileSizes) {
    if (static_cast<uint32_t>(size.tile) == tile) return size;
  }
  return {};
}

GemmTiling TilingOf(const cublasLtMatmulAlgo_t& algorithm) {
  const auto attribute = [&](cublasLtMatmulAlgoConfigAttributes_t name) {
    uint32_t value = 0;
    size_t written = 0;
    CheckCublas(
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, name, &value, sizeof(value), &written),
        "cublasLtMatmulAlgoConfigGetAttribute");
    return value;
  };
  const TileSize tile = SizeOfTile(attribute(CUBLASLT_ALGO_CONFIG_TILE_ID));
  const int64_t splits = attribute(CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return {.rows = tile.rows, .columns = tile.columns, .splits = std::max<int64_t>(splits, 1)};
}

cublasLtEpilogue_t EpilogueOf(const GemmShape& shape) {
  switch (shape.epilogue) {
    case GemmEpilogue::kNone:
      return shape.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case GemmEpilogue::kGelu:
      return shape.has_bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case GemmEpilogue::kGeluGradient:
      return CUBLASLT_EPILOGUE_DGELU;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

class Preference {
 public:
  explicit Preference(int alignment) {
    CheckCublas(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    Set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kGemmWorkspaceBytes});
    // Allows only fp32 for adding partial sums. Other schemes add them in the output type, which
    // would round a 16-bit result once per part.
    Set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    for (const auto name :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      Set(name, static_cast<uint32_t>(alignment));
    }
  }
  // Ignores the result, because destroying a created preference cannot fail.
  ~Preference() { static_cast<void>(cublasLtMatmulPreferenceDestroy(preference_)); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  template <typename Value>
  void Set(cublasLtMatmulPreferenceAttributes_t name, Value value) {
    CheckCublas(cublasLtMatmulPreferenceSetAttribute(preference_, name, &value, sizeof(value)),
                "cublasLtMatmulPreferenceSetAttribute");
  }

  cublasLtMatmulPreference_t preference_ = nullptr;
};

bool IsAligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kMaxAlignment == 0;
}

}  // namespace

int GemmAlignment(const GemmArguments& arguments) {
  const uintptr_t bits =
      reinterpret_cast<uintptr_t>(arguments.a) | reinterpret_cast<uintptr_t>(arguments.b) |
      reinterpret_cast<uintptr_t>(arguments.c) | reinterpret_cast<uintptr_t>(arguments.d) |
      reinterpret_cast<uintptr_t>(arguments.gelu_input) | kMaxAlignment;
  return static_cast<int>(bits & -bits);
}

void CheckFp8Product(const GemmArguments& arguments) {
  constexpr int64_t kMultiple = 16;
  if (!IsFp8(arguments.a_type) && !IsFp8(arguments.b_type)) return;
  const auto check = [&](bool holds, const char* rule) {
    if (holds) return;
    throw KernelError("an FP8 product [" + std::to_string(arguments.m) + ", " +
                      std::to_string(arguments.k) + "] x [" + std::to_string(arguments.k) + ", " +
                      std::to_string(arguments.n) + "] " + rule);
  };
  check(IsFp8(arguments.a_type) && IsFp8(arguments.b_type), "needs two FP8 factors");
  check(arguments.a_type != ElementType::kFp8E5M2 || arguments.b_type != ElementType::kFp8E5M2,
        "needs a factor in E4M3, but both are in E5M2");
  check(!arguments.transpose_a && arguments.transpose_b,
        "needs factors whose summed dimension is contiguous");
  check((arguments.m | arguments.n | arguments.k) % kMultiple == 0,
        "needs sizes that are multiples of 16");
  check(GemmAlignment(arguments) == kMaxAlignment, "needs addresses that are multiples of 16");
  check(arguments.a_factor != nullptr && arguments.b_factor != nullptr, "needs two factors");
  // cuBLASLt 13.0 refuses other addresses without naming the cause.
  check(IsAligned(arguments.a_factor) && IsAligned(arguments.b_factor),
        "needs factors whose addresses are multiples of 16");
  check(arguments.bias == nullptr, "cannot add a bias");
}

void CheckCublas(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw KernelError(std::string(operation) + ": " + cublasLtGetStatusString(status));
}

GemmPlan::Operation GemmPlan::MakeOperation(const GemmShape& shape) {
  cublasLtMatmulDesc_t descriptor = nullptr;
  // COMPUTE_32F multiplies fp32 numbers in full precision, never as TF32, and sums in fp32.
  CheckCublas(cublasLtMatmulDescCreate(&descriptor, CUBLAS_COMPUTE_32F, CUDA_R_32F),
              "cublasLtMatmulDescCreate");
  Operation operation(descriptor);
  const cublasOperation_t transpose_a = shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t transpose_b = shape.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  CheckCublas(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSA, &transpose_a,
                                             sizeof(transpose_a)),
              "cublasLtMatmulDescSetAttribute");
  CheckCublas(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSB, &transpose_b,
                                             sizeof(transpose_b)),
              "cublasLtMatmulDescSetAttribute");
  if (shape.fast_accumulation) {
    const int8_t is_fast = 1;
    CheckCublas(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
                                               &is_fast, sizeof(is_fast)),
                "cublasLtMatmulDescSetAttribute");
  }
  // cuBLASLt is column-major, so its bias per row is the bias per column of a row-major matrix.
  const cublasLtEpilogue_t epilogue = EpilogueOf(shape);
  CheckCublas(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                             sizeof(epilogue)),
              "cublasLtMatmulDescSetAttribute");
  if (shape.epilogue != GemmEpilogue::kNone) {
    const int64_t width = shape.n;
    CheckCublas(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                               &width, sizeof(width)),
                "cublasLtMatmulDescSetAttribute");
  }
  return operation;
}

void GemmPlan::SetBias(const void* bias) const {
  if (bias == nullptr) return;
  CheckCublas(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                             &bias, sizeof(bias)),
              "cublasLtMatmulDescSetAttribute");
}

void GemmPlan::SetGeluInput(void* gelu_input) const {
  if (gelu_input == nullptr) return;
  CheckCublas(
      cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                     &gelu_input, sizeof(gelu_input)),
      "cublasLtMatmulDescSetAttribute");
}

void GemmPlan::SetFactors(const float* a_factor, const float* b_factor) const {
  if (a_factor == nullptr) return;
  CheckCublas(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                                             &b_factor, sizeof(b_factor)),
              "cublasLtMatmulDescSetAttribute");
  CheckCublas(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                                             &a_factor, sizeof(a_factor)),
              "cublasLtMatmulDescSetAttribute");
}

void GemmPlan::SetRows(int64_t rows, bool transpose_a) const {
  // Rows of a row-major matrix are columns of the column-major matrix with the same memory.
  const auto columns = static_cast<uint64_t>(rows);
  for (const Layout* layout : {&layout_b_, transpose_a ? &layout_a_ : &layout_c_}) {
    CheckCublas(cublasLtMatrixLayoutSetAttribute(layout->get(), CUBLASLT_MATRIX_LAYOUT_COLS,
                                                 &columns, sizeof(columns)),
                "cublasLtMatrixLayoutSetAttribute");
  }
}

// Returns the layout of the column-major matrix that has the same memory as a row-major matrix
// [rows, columns]. `transposed`: the row-major matrix is stored transposed.
GemmPlan::Layout GemmPlan::MakeLayout(ElementType type, bool transposed, int64_t rows,
                                      int64_t columns) {
  const int64_t width = transposed ? rows : columns;
  const int64_t height = transposed ? columns : rows;
  cublasLtMatrixLayout_t layout = nullptr;
  CheckCublas(cublasLtMatrixLayoutCreate(&layout, CudaType(type), width, height, width),
              "cublasLtMatrixLayoutCreate");
  return Layout(layout);
}

GemmPlan::GemmPlan(const GemmShape& shape)
    : operation_(MakeOperation(shape)),
      layout_a_(MakeLayout(shape.b_type, shape.transpose_b, shape.k, shape.n)),
      layout_b_(MakeLayout(shape.a_type, shape.transpose_a, shape.m, shape.k)),
      layout_c_(MakeLayout(shape.output_type, false, shape.m, shape.n)) {}

std::vector<cublasLtMatmulAlgo_t> GemmPlan::Candidates(cublasLtHandle_t handle, int alignment,
                                                       int limit) const {
  const Preference preference(alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(limit);
  int count = 0;
  CheckCublas(cublasLtMatmulAlgoGetHeuristic(handle, operation_.get(), layout_a_.get(),
                                             layout_b_.get(), layout_c_.get(), layout_c_.get(),
                                             preference.get(), limit, results.data(), &count),
              "cublasLtMatmulAlgoGetHeuristic");
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < count; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(results[i].algo);
  }
  if (algorithms.empty()) throw KernelError("cuBLASLt has no algorithm for this matrix product");
  return algorithms;
}

cublasLtMatmulAlgo_t GemmPlan::Predicted(cublasLtHandle_t handle, const GemmShape& shape,
                                         int alignment) const {
  constexpr int kHopper = 9;  // Compute capability.
  int device = 0, capability = 0, multiprocessors = 0;
  CheckCuda(cudaGetDevice(&device), "cudaGetDevice");
  CheckCuda(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device),
            "cudaDeviceGetAttribute");
  CheckCuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute");
  const bool is_16_bits =
      shape.a_type == ElementType::kBFloat16 || shape.a_type == ElementType::kFloat16;
  if (!is_16_bits || capability != kHopper) return Candidates(handle, alignment, 1).front();
  const std::vector<cublasLtMatmulAlgo_t> candidates =
      Candidates(handle, alignment, kGemmCandidates);
  std::vector<GemmTiling> tilings;
  tilings.reserve(candidates.size());
  for (const cublasLtMatmulAlgo_t& candidate : candidates) tilings.push_back(TilingOf(candidate));
  // cuBLASLt is column-major: the rows of its tiles are columns of ours.
  const GemmSize size = {.rows = shape.n,
                         .columns = shape.m,
                         .depth = shape.k,
                         .has_fp32_output = shape.output_type == ElementType::kFloat32};
  return candidates[FastestTiling(size, tilings, multiprocessors)];
}

bool GemmPlan::Accepts(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle, operation_.get(), layout_a_.get(), layout_b_.get(),
                              layout_c_.get(), layout_c_.get(), &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kGemmWorkspaceBytes;
}

cublasStatus_t GemmPlan::Run(cublasLtHandle_t handle, const GemmArguments& arguments,
                             void* workspace, cudaStream_t stream) const {
  SetBias(arguments.bias);
  SetGeluInput(arguments.gelu_input);
  SetFactors(arguments.a_factor, arguments.b_factor);
  const float alpha = 1.0F;
  const float beta = arguments.c == nullptr ? 0.0F : 1.0F;
  const void* c = arguments.c == nullptr ? arguments.d : arguments.c;
  return cublasLtMatmul(handle, operation_.get(), &alpha, arguments.b, layout_a_.get(), arguments.a,
                        layout_b_.get(), &beta, c, layout_c_.get(), arguments.d, layout_c_.get(),
                        &algorithm_, workspace, kGemmWorkspaceBytes, stream);
}

}  // namespace trainyard::trainer::kernels
