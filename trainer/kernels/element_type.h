// Element types of kernel inputs and outputs.
#ifndef TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
#define TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_

namespace trainyard::trainer::kernels {

// The type of elements in memory. Every kernel computes in fp32. Only fp8_cast.h writes the FP8
// types, and only matrix products read them.
enum class ElementType { kFloat32, kBFloat16, kFloat16, kFp8E4M3, kFp8E5M2 };

inline bool IsFp8(ElementType type) {
  return type == ElementType::kFp8E4M3 || type == ElementType::kFp8E5M2;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
