// The place of a matrix in a larger matrix.
#ifndef TRAINYARD_TRAINER_OPS_PLACE_IN_MATRIX_H_
#define TRAINYARD_TRAINER_OPS_PLACE_IN_MATRIX_H_

#include <cstdint>

namespace trainyard::trainer {

struct PlaceInMatrix {
  int64_t first = 0;   // Index of the first element in the larger matrix.
  int64_t stride = 0;  // Number of columns of the larger matrix.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_PLACE_IN_MATRIX_H_
