#include "trainer/kernels/optimizer/optimizer.h"

#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/optimizer/stochastic_rounding.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The number of elements per thread: one vector of 16-bit numbers, or two vectors of fp32.
constexpr int kThreadElements = 8;

template <typename Value, typename First, typename Second>
struct Operands {
  Value* values;
  uint16_t* low_bits;
  float* masters;
  const float* gradients;
  First* first_moment;
  Second* second_moment;
  int64_t count;
  int64_t first_element;
};

// The parameters that are the same in all steps.
struct Factors {
  const double* step_values;
  double weight_decay;
  float first_weight;   // 1 - beta1
  float second_weight;  // 1 - beta2
  float epsilon;
};

// The values of one step, rounded to fp32 like the operands of the CPU implementation.
struct StepFactors {
  float gradient_scale;
  float step_size;
  float root_correction;
  float decay;  // Exactly 1 if there is no weight decay.
  int64_t step;
};

template <int kSize>
struct Elements {
  float weight[kSize];
  float gradient[kSize];
  float first[kSize];
  float second[kSize];
};

__device__ __forceinline__ double ValueOf(const double* step_values, StepValue which) {
  return step_values[static_cast<int64_t>(which)];
}

__device__ __forceinline__ StepFactors ReadStep(const Factors& factors) {
  const auto value = [&](StepValue which) { return ValueOf(factors.step_values, which); };
  StepFactors step;
  step.gradient_scale = static_cast<float>(value(StepValue::kGradientScale));
  step.step_size = static_cast<float>(value(StepValue::kStepSize));
  step.root_correction = static_cast<float>(value(StepValue::kRootCorrection));
  step.decay = static_cast<float>(1 - value(StepValue::kLearningRate) * factors.weight_decay);
  step.step = static_cast<int64_t>(value(StepValue::kStep));
  return step;
}

// Loads 16-bit numbers into the lower halves of the words in `halves`.
template <int kSize>
__device__ __forceinline__ void LoadHalves(const uint16_t* address, uint32_t (&halves)[kSize]) {
  const auto vector = LoadVector<kSize>(address);
  if constexpr (kSize == 1) {
    halves[0] = vector.bits;
  } else {
    const uint32_t words[] = {vector.bits.x, vector.bits.y, vector.bits.z, vector.bits.w};
#pragma unroll
    for (int i = 0; i < kSize; ++i) halves[i] = (words[i / 2] >> (i % 2 * 16)) & 0xffffu;
  }
}

template <int kSize>
__device__ __forceinline__ void StoreHalves(uint16_t* address, const uint32_t (&halves)[kSize]) {
  if constexpr (kSize == 1) {
    *address = static_cast<uint16_t>(halves[0]);
  } else {
    const auto word = [&](int i) { return halves[2 * i] | (halves[2 * i + 1] << 16); };
    StoreVector(address, Vector<uint16_t>{make_uint4(word(0), word(1), word(2), word(3))});
  }
}

// Loads master weights. Joins bf16 values and their low bits; see optimizer.h.
template <typename Value, typename First, typename Second, int kSize>
__device__ __forceinline__ void LoadWeights(const Operands<Value, First, Second>& operands,
                                            int64_t index, float (&weights)[kSize]) {
  if constexpr (std::is_same_v<Value, __half>) {
    LoadFloats(operands.masters + index, weights);
  } else {
    LoadFloats(operands.values + index, weights);
  }
  if constexpr (std::is_same_v<Value, __nv_bfloat16>) {
    uint32_t low[kSize];
    LoadHalves(operands.low_bits + index, low);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const uint32_t signed_low = static_cast<int16_t>(low[i]);
      weights[i] = __uint_as_float(__float_as_uint(weights[i]) + signed_low);
    }
  }
}

// Stores master weights, and the values rounded from them. If the values are bf16, splits the
// master weights. Stores every NaN as a NaN with a lower half of 0, because rounding another NaN
// could carry through all bits and give the value 0, which would hide the NaN.
template <typename Value, typename First, typename Second, int kSize>
__device__ __forceinline__ void StoreWeights(const Operands<Value, First, Second>& operands,
                                             int64_t index, const float (&weights)[kSize]) {
  if constexpr (!std::is_same_v<Value, __nv_bfloat16>) {
    StoreFloats(operands.values + index, weights);
    if constexpr (std::is_same_v<Value, __half>) StoreFloats(operands.masters + index, weights);
  } else {
    constexpr uint32_t kNaN = 0x7fc00000u;
    uint32_t high[kSize];
    uint32_t low[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const uint32_t bits = isnan(weights[i]) ? kNaN : __float_as_uint(weights[i]);
      high[i] = (bits + 0x8000u) >> 16;
      low[i] = bits & 0xffffu;
    }
    StoreHalves(reinterpret_cast<uint16_t*>(operands.values + index), high);
    StoreHalves(operands.low_bits + index, low);
  }
}

// `random` contains random bits for each element; the lower 16 are used.
template <typename Moment, int kSize>
__device__ __forceinline__ void StoreMoment(Moment* address, const uint32_t (&random)[kSize],
                                            const float (&moments)[kSize]) {
  if constexpr (std::is_same_v<Moment, float>) {
    StoreFloats(address, moments);
  } else {
    uint32_t rounded[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      rounded[i] = RoundToBFloat16(__float_as_uint(moments[i]), random[i]);
    }
    StoreHalves(reinterpret_cast<uint16_t*>(address), rounded);
  }
}

template <typename Value, typename First, typename Second, int kSize>
__device__ __forceinline__ void StoreMoments(const Operands<Value, First, Second>& operands,
                                             int64_t step, int64_t index,
                                             const Elements<kSize>& elements) {
  uint32_t low[kSize];
  uint32_t high[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    low[i] = RoundingBits(step, operands.first_element + index + i);
    high[i] = low[i] >> 16;
  }
  StoreMoment(operands.first_moment + index, low, elements.first);
  StoreMoment(operands.second_moment + index, high, elements.second);
}

template <int kSize>
__device__ __forceinline__ void UpdateElements(const Factors& factors, const StepFactors& step,
                                               Elements<kSize>& elements) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const float gradient = elements.gradient[i] * step.gradient_scale;
    float& first = elements.first[i];
    float& second = elements.second[i];
    first += factors.first_weight * (gradient - first);
    second += factors.second_weight * (gradient * gradient - second);
    const float denominator = sqrtf(second) / step.root_correction + factors.epsilon;
    // If all gradients so far were 0 and epsilon is 0, numerator and denominator are 0. The update
    // is then 0.
    const float update = denominator == 0.0F ? 0.0F : first / denominator;
    elements.weight[i] = elements.weight[i] * step.decay - step.step_size * update;
  }
}

template <int kSize, typename Value, typename First, typename Second>
__device__ __forceinline__ void UpdateAt(const Operands<Value, First, Second>& operands,
                                         const Factors& factors, const StepFactors& step,
                                         int64_t index) {
  Elements<kSize> elements;
  LoadFloats(operands.gradients + index, elements.gradient);
  LoadFloats(operands.first_moment + index, elements.first);
  LoadFloats(operands.second_moment + index, elements.second);
  LoadWeights(operands, index, elements.weight);
  UpdateElements(factors, step, elements);
  StoreWeights(operands, index, elements.weight);
  StoreMoments(operands, step.step, index, elements);
}

template <typename Value, typename First, typename Second>
__global__ void __launch_bounds__(kThreads)
    AdamWKernel(Operands<Value, First, Second> operands, Factors factors) {
  if (ValueOf(factors.step_values, StepValue::kFinite) == 0) return;
  const StepFactors step = ReadStep(factors);
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t first = thread * kThreadElements;
  if (first + kThreadElements <= operands.count) {
    UpdateAt<kThreadElements>(operands, factors, step, first);
  } else {
    for (int64_t index = first; index < operands.count; ++index) {
      UpdateAt<1>(operands, factors, step, index);
    }
  }
}

// Calls function(std::type_identity<T>{}) for the type of a moment, which is never fp16.
template <typename Function>
void DispatchMoment(ElementType type, Function&& function) {
  if (type == ElementType::kFloat32) {
    std::forward<Function>(function)(std::type_identity<float>{});
  } else {
    std::forward<Function>(function)(std::type_identity<__nv_bfloat16>{});
  }
}

template <typename Value, typename First, typename Second>
void Launch(const AdamWArguments& arguments, cudaStream_t stream) {
  if (!TakesVectors<float>(
          0, {arguments.values, arguments.low_bits, arguments.masters, arguments.gradients,
              arguments.first_moment, arguments.second_moment})) {
    throw KernelError("AdamW: an address is not a multiple of 16 bytes");
  }
  const Operands<Value, First, Second> operands = {static_cast<Value*>(arguments.values),
                                                   arguments.low_bits,
                                                   arguments.masters,
                                                   arguments.gradients,
                                                   static_cast<First*>(arguments.first_moment),
                                                   static_cast<Second*>(arguments.second_moment),
                                                   arguments.count,
                                                   arguments.first_element};
  const Factors factors = {
      arguments.step_values, arguments.weight_decay, static_cast<float>(1 - arguments.beta1),
      static_cast<float>(1 - arguments.beta2), static_cast<float>(arguments.epsilon)};
  constexpr int64_t kBlockElements = kThreads * kThreadElements;
  const int64_t blocks = (arguments.count + kBlockElements - 1) / kBlockElements;
  AdamWKernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(operands, factors);
  CheckLaunch("AdamW");
}

}  // namespace

void AdamW(const AdamWArguments& arguments, cudaStream_t stream) {
  if (arguments.count == 0) return;
  DispatchType(arguments.value_type, [&]<typename Value>(std::type_identity<Value>) {
    DispatchMoment(arguments.first_moment_type, [&]<typename First>(std::type_identity<First>) {
      DispatchMoment(arguments.second_moment_type,
                     [&]<typename Second>(std::type_identity<Second>) {
                       Launch<Value, First, Second>(arguments, stream);
                     });
    });
  });
}

}  // namespace trainyard::trainer::kernels
