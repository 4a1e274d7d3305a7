// Element types of kernel inputs and outputs.
#ifndef TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
#define TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_

namespace trainyard::trainer::kernels {

// The type of elements in memory. Every kernel computes in fp32, whatever the element type.
enum class ElementType { kFloat32, kBFloat16, kFloat16 };

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
