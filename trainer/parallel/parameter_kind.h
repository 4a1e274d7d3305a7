// The kinds of parameters, which are divided among the ranks in different ways.
#ifndef TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_
#define TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_

namespace trainyard::trainer {

// kExpert: the matrices of experts, shared only by the ranks with the same experts. kDense: all
// other parameters, shared by all ranks along cp and dp.
enum class ParameterKind { kDense, kExpert };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_
