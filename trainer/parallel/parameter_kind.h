// The kinds of parameters, which are divided among the ranks in different ways.
#ifndef TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_
#define TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_

namespace trainyard::trainer {

// kExpert: the matrices of experts, which only the ranks with the same experts have in common.
// kDense: all other parameters, which all ranks along cp and dp have in common.
enum class ParameterKind { kDense, kExpert };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_PARAMETER_KIND_H_
