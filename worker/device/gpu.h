// One GPU of this machine.
#ifndef TRAINYARD_WORKER_DEVICE_GPU_H_
#define TRAINYARD_WORKER_DEVICE_GPU_H_

#include <cstdint>
#include <string>

namespace trainyard::worker {

struct Gpu {
  std::string model;
  std::string uuid;
  int64_t memory_bytes = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_GPU_H_
