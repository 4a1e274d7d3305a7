// Keeps the state of a CUDA library per device.
#ifndef TRAINYARD_TRAINER_KERNELS_DEVICE_STATE_H_
#define TRAINYARD_TRAINER_KERNELS_DEVICE_STATE_H_

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {

// Returns the State of the current device; creates it at the first use. A State is never destroyed,
// because the driver may already be unloaded at exit. Only one thread per device may call this
// function at a time.
template <typename State>
State& CurrentDeviceState() {
  static auto& states = *[] {
    int count = 0;
    CheckCuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return new std::vector<std::unique_ptr<State>>(count);
  }();
  int device = 0;
  CheckCuda(cudaGetDevice(&device), "cudaGetDevice");
  std::unique_ptr<State>& state = states.at(device);
  if (state == nullptr) state = std::make_unique<State>();
  return *state;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_DEVICE_STATE_H_
