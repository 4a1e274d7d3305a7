// Types of the elements that kernels read and write.
#ifndef TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
#define TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_

namespace trainyard::trainer::kernels {

// Every kernel computes in fp32, whatever it stores.
enum class ElementType { kFloat32, kBFloat16 };

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ELEMENT_TYPE_H_
