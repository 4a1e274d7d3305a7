// Element types of kernel inputs and outputs.
#ifndef TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
#define TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_

namespace trainyard::trainer::kernels {

// Every kernel computes in fp32, for all element types.
enum class ElementType { kFloat32, kBFloat16 };

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
