// Measures FP8 copies and products on the current GPU, for the matrices of LLaMA-3 1.5B and 8B:
//   fp8_speed          products use the algorithms of training
//   fp8_speed --tune   products use the fastest of 16 algorithms for each shape
// Prints one line per copy with its TB/s, and one line per product with its TFLOP/s and the ratio
// to the bf16 product. The limits are 3.0 TB/s for copies with both arrangements on an H200, and
// the GPU's peak for products.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/fp8/fp8_cast.h"
#include "trainer/kernels/fp8/fp8_scale.h"
#include "trainer/kernels/gemm/gemm.h"

namespace trainyard::trainer::kernels {
namespace {

struct ProductShape {
  const char* name;
  int64_t rows;
  int64_t in;
  int64_t out;
};

constexpr ProductShape kShapes[] = {
    {"1.5b qkv", 32768, 2048, 4096}, {"1.5b out", 32768, 2048, 2048},
    {"1.5b up", 32768, 2048, 14336}, {"1.5b down", 32768, 7168, 2048},
    {"8b qkv", 8192, 4096, 6144},    {"8b out", 8192, 4096, 4096},
    {"8b up", 8192, 4096, 28672},    {"8b down", 8192, 14336, 4096},
};
// The largest matrix of kShapes.
constexpr int64_t kMostElements = int64_t{32768} * 14336;

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) { CheckCuda(cudaMalloc(&memory_, bytes), "cudaMalloc"); }
  // Ignores the result, because the process ends.
  ~DeviceMemory() { static_cast<void>(cudaFree(memory_)); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

// Fills the memory with normal numbers. Zeros would need less power and give a higher clock.
void FillWithNormalNumbers(const DeviceMemory& memory, int64_t count) {
  constexpr int64_t kPart = (1 << 20) + 7;  // No multiple of a row, so that rows differ.
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<__nv_bfloat16> part(kPart);
  for (__nv_bfloat16& value : part) value = __float2bfloat16(normal(generator));
  for (int64_t first = 0; first < count; first += kPart) {
    const int64_t size = std::min(kPart, count - first);
    CheckCuda(cudaMemcpy(memory.as<__nv_bfloat16>() + first, part.data(),
                         size * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice),
              "cudaMemcpy");
  }
}

// Returns the seconds per run: the median of several groups of runs, under load.
template <typename Run>
double SecondsOf(const Run& run) {
  constexpr int kRuns = 20, kGroups = 7, kWarmUpRuns = 50;
  cudaEvent_t start = nullptr, stop = nullptr;
  CheckCuda(cudaEventCreate(&start), "cudaEventCreate");
  CheckCuda(cudaEventCreate(&stop), "cudaEventCreate");
  for (int i = 0; i < kWarmUpRuns; ++i) run();
  std::array<float, kGroups> milliseconds{};
  for (float& group : milliseconds) {
    CheckCuda(cudaEventRecord(start, nullptr), "cudaEventRecord");
    for (int i = 0; i < kRuns; ++i) run();
    CheckCuda(cudaEventRecord(stop, nullptr), "cudaEventRecord");
    CheckCuda(cudaEventSynchronize(stop), "cudaEventSynchronize");
    CheckCuda(cudaEventElapsedTime(&group, start, stop), "cudaEventElapsedTime");
  }
  CheckCuda(cudaEventDestroy(start), "cudaEventDestroy");
  CheckCuda(cudaEventDestroy(stop), "cudaEventDestroy");
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds[kGroups / 2] * 1e-3 / kRuns;
}

// The memory of all measurements. Contents of results do not matter.
class Measurements {
 public:
  Measurements()
      : a_(kMostElements * sizeof(__nv_bfloat16)),
        b_(kMostElements * sizeof(__nv_bfloat16)),
        d_(kMostElements * sizeof(float)),
        fp8_(2 * kMostElements),
        scalars_(kScalars * sizeof(float)) {
    FillWithNormalNumbers(a_, kMostElements);
    FillWithNormalNumbers(b_, kMostElements);
    constexpr float kScale = 64;
    const float values[kScalars] = {kScale, 0, 0, 0, 1 / kScale, 0, 0, 0, 0};
    CheckCuda(cudaMemcpy(scalars_.as<float>(), values, sizeof(values), cudaMemcpyHostToDevice),
              "cudaMemcpy");
    // Fills both halves with FP8 numbers for the products.
    Cast(kMostElements / 4096, 4096, true, true);
  }

  void PrintCopies(const char* name, int64_t rows, int64_t width) {
    const auto print = [&](const char* kind, bool has_rows, bool has_columns) {
      const double seconds = SecondsOf([&] { Cast(rows, width, has_rows, has_columns); });
      const double bytes =
          static_cast<double>(rows * width) * (sizeof(__nv_bfloat16) + has_rows + has_columns);
      std::printf("%-10s %-13s %6ld x %-6ld %9.1f us %7.2f TB/s\n", name, kind, rows, width,
                  seconds * 1e6, bytes / seconds * 1e-12);
    };
    print("copy rows", true, false);
    print("copy columns", false, true);
    print("copy both", true, true);
    const double seconds = SecondsOf([&] {
      RaiseAmax({.x = a_.as<void>(), .amax = Scalar(2), .count = rows * width}, nullptr);
    });
    std::printf("%-10s %-13s %6ld x %-6ld %9.1f us %7.2f TB/s\n", name, "amax", rows, width,
                seconds * 1e6, static_cast<double>(2 * rows * width) / seconds * 1e-12);
  }

  void PrintProducts(const ProductShape& shape) {
    const auto [name, rows, in, out] = shape;
    const double forward = Print(name, "y bf16", Wide(rows, in, out), 0);
    GemmArguments product = Narrow(rows, in, out, ElementType::kFp8E4M3);
    Print(name, "y fp8 slow", product, forward);
    product.fast_accumulation = true;
    Print(name, "y fp8 fast", product, forward);
    GemmArguments input_gradient = Wide(rows, out, in);
    input_gradient.transpose_b = false;
    const double backward = Print(name, "dx bf16", input_gradient, 0);
    Print(name, "dx fp8", Narrow(rows, out, in, ElementType::kFp8E5M2), backward);
    GemmArguments weight_gradient = Wide(out, rows, in);
    weight_gradient.transpose_a = true;
    weight_gradient.transpose_b = false;
    const double gradient = Print(name, "dw bf16", Accumulating(weight_gradient), 0);
    Print(name, "dw fp8", Accumulating(Narrow(out, rows, in, ElementType::kFp8E5M2)), gradient);
  }

 private:
  // Scale, inverse scale, amax. Each has an address that is a multiple of 16 bytes.
  static constexpr int kScalars = 12;

  float* Scalar(int index) const { return scalars_.as<float>() + 4 * index; }

  void Cast(int64_t rows, int64_t width, bool has_rows, bool has_columns) const {
    auto* elements = fp8_.as<uint8_t>();
    CastToFp8({.x = a_.as<void>(),
               .scale = Scalar(0),
               .rows_out = has_rows ? elements : nullptr,
               .columns_out = has_columns ? elements + kMostElements : nullptr,
               .inverse_scale = Scalar(1),
               .amax = Scalar(2),
               .rows = rows,
               .width = width},
              nullptr);
  }

  // d [m, n] = a [m, k] b [n, k]^T in bf16.
  GemmArguments Wide(int64_t m, int64_t k, int64_t n) const {
    return {.a = a_.as<void>(),
            .b = b_.as<void>(),
            .d = d_.as<void>(),
            .m = m,
            .n = n,
            .k = k,
            .transpose_b = true};
  }

  // Wide with FP8 factors.
  GemmArguments Narrow(int64_t m, int64_t k, int64_t n, ElementType a_type) const {
    GemmArguments product = Wide(m, k, n);
    product.a = fp8_.as<uint8_t>();
    product.b = fp8_.as<uint8_t>() + kMostElements;
    product.a_type = a_type;
    product.b_type = ElementType::kFp8E4M3;
    product.a_factor = product.b_factor = Scalar(1);
    return product;
  }

  // The product is added to a gradient in fp32.
  static GemmArguments Accumulating(GemmArguments product) {
    product.c = product.d;
    product.output_type = ElementType::kFloat32;
    return product;
  }

  // Returns the seconds. `reference`: the seconds of the bf16 product, or 0.
  static double Print(const char* name, const char* kind, const GemmArguments& product,
                      double reference) {
    const double seconds = SecondsOf([&] { Gemm(product, nullptr); });
    const double operations = 2.0 * static_cast<double>(product.m) *
                              static_cast<double>(product.n) * static_cast<double>(product.k);
    std::printf("%-10s %-13s %6ld x %-6ld %9.1f us %7.0f TFLOP/s", name, kind, product.m, product.n,
                seconds * 1e6, operations / seconds * 1e-12);
    if (reference > 0) std::printf("  %5.2f x", reference / seconds);
    std::printf("\n");
    return seconds;
  }

  DeviceMemory a_, b_, d_, fp8_, scalars_;
};

void MeasureAll() {
  Measurements measurements;
  for (const ProductShape& shape : kShapes) {
    measurements.PrintCopies(shape.name, shape.rows, shape.in);
    measurements.PrintProducts(shape);
  }
}

}  // namespace
}  // namespace trainyard::trainer::kernels

int main(int count, char** arguments) {
  namespace kernels = trainyard::trainer::kernels;
  const bool tunes = count == 2 && std::string_view(arguments[1]) == "--tune";
  if (count > 1 && !tunes) {
    std::fprintf(stderr, "usage: fp8_speed [--tune]\n");
    return 64;
  }
  try {
    if (tunes) kernels::TuneGemms();
    kernels::MeasureAll();
  } catch (const kernels::KernelError& error) {
    std::fprintf(stderr, "fp8_speed: %s\n", error.what());
    return 70;
  }
  return 0;
}
