// Element types of kernel inputs and outputs.
#ifndef TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
#define TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_

namespace trainyard::trainer::kernels {

// The type of elements in memory. Every kernel computes in fp32, whatever the element type. The FP8
// types are for the outputs of fp8_cast.h and for the factors of matrix products.
enum class ElementType { kFloat32, kBFloat16, kFloat16, kFp8E4M3, kFp8E5M2 };

inline bool IsFp8(ElementType type) {
  return type == ElementType::kFp8E4M3 || type == ElementType::kFp8E5M2;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
