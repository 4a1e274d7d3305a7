// Marks functions that both the host and kernels can call.
#ifndef TRAINYARD_TRAINER_KERNELS_HOST_DEVICE_H_
#define TRAINYARD_TRAINER_KERNELS_HOST_DEVICE_H_

#ifdef __CUDACC__
#define TRAINYARD_HOST_DEVICE __host__ __device__
#else
#define TRAINYARD_HOST_DEVICE
#endif

#endif  // TRAINYARD_TRAINER_KERNELS_HOST_DEVICE_H_
