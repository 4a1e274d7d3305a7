#include "trainer/kernels/experts/slot_order.h"

#include <cub/device/device_scan.cuh>
#include <limits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// One bucket per expert, and the last bucket for dropped slots.
constexpr int kBuckets = kMaxExperts + 1;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
// The number of adjacent slots that a warp places, and the number that a block places.
constexpr int kWarpSlots = 8 * kWarpSize;
constexpr int kTileSlots = kWarps * kWarpSlots;
constexpr size_t kAlignment = 256;

__device__ __forceinline__ int BucketOf(int64_t expert) {
  return expert < 0 ? kBuckets - 1 : static_cast<int>(expert);
}

// Counts the slots of each bucket in the block's tile. `counts` is [kBuckets, tiles], so that its
// prefix sums are the first places of each bucket and tile.
__global__ void __launch_bounds__(kThreads)
    CountTileKernel(const int64_t* experts, int64_t slots, int* counts) {
  __shared__ int histogram[kBuckets];
  for (int bucket = threadIdx.x; bucket < kBuckets; bucket += kThreads) histogram[bucket] = 0;
  __syncthreads();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTileSlots;
  const int64_t end = min(first + kTileSlots, slots);
  for (int64_t slot = first + threadIdx.x; slot < end; slot += kThreads) {
    // Additions of integers give the same sum in every order.
    atomicAdd(&histogram[BucketOf(experts[slot])], 1);
  }
  __syncthreads();
  for (int bucket = threadIdx.x; bucket < kBuckets; bucket += kThreads) {
    counts[static_cast<int64_t>(bucket) * gridDim.x + blockIdx.x] = histogram[bucket];
  }
}

// Calls visit(slot, bucket, lanes) in every lane for each slot of the warp, in order. `lanes` are
// the lanes whose slots are in the same bucket. Lanes after the last slot have the bucket kBuckets.
template <typename Visit>
__device__ __forceinline__ void ForEachSlot(const SlotOrderArguments& arguments, int64_t first,
                                            const Visit& visit) {
  for (int step = 0; step < kWarpSlots; step += kWarpSize) {
    const int64_t slot = first + step + threadIdx.x % kWarpSize;
    const int bucket = slot < arguments.slots ? BucketOf(arguments.experts[slot]) : kBuckets;
    visit(slot, bucket, __match_any_sync(0xffffffffu, bucket));
    __syncwarp();
  }
}

// Returns the number of lanes in `lanes` before this lane.
__device__ __forceinline__ int LanesBefore(unsigned lanes) {
  return __popc(lanes & ((1u << (threadIdx.x % kWarpSize)) - 1));
}

// `offsets` is [kBuckets, tiles]. Contains, for each bucket and tile, the place of the first slot.
__global__ void __launch_bounds__(kThreads)
    PlaceSlotsKernel(SlotOrderArguments arguments, const int* offsets) {
  // The number of slots of each bucket in each warp, and later the next place of each bucket.
  __shared__ int next[kWarps][kBuckets + 1];
  const int warp = threadIdx.x / kWarpSize;
  for (int bucket = threadIdx.x; bucket <= kBuckets; bucket += kThreads) {
    for (int other = 0; other < kWarps; ++other) next[other][bucket] = 0;
  }
  __syncthreads();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTileSlots + warp * kWarpSlots;
  ForEachSlot(arguments, first, [&](int64_t, int bucket, unsigned lanes) {
    if (LanesBefore(lanes) == 0) next[warp][bucket] += __popc(lanes);
  });
  __syncthreads();
  for (int bucket = threadIdx.x; bucket < kBuckets; bucket += kThreads) {
    int place = offsets[static_cast<int64_t>(bucket) * gridDim.x + blockIdx.x];
    for (int earlier = 0; earlier < kWarps; ++earlier) {
      const int count = next[earlier][bucket];
      next[earlier][bucket] = place;
      place += count;
    }
  }
  __syncthreads();
  ForEachSlot(arguments, first, [&](int64_t slot, int bucket, unsigned lanes) {
    const int place = next[warp][bucket] + LanesBefore(lanes);
    __syncwarp();  // All lanes have read before the first lane of a bucket writes.
    if (LanesBefore(lanes) == 0) next[warp][bucket] += __popc(lanes);
    if (slot >= arguments.slots) return;
    arguments.places[slot] = place;
    arguments.tokens[place] = slot / arguments.topk;
  });
}

int64_t Tiles(int64_t slots) { return (slots + kTileSlots - 1) / kTileSlots; }

// Returns the bytes of the counts, rounded up so that the memory after them is aligned.
size_t CountBytes(int64_t slots) {
  const size_t bytes = static_cast<size_t>(Tiles(slots)) * kBuckets * sizeof(int);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Returns the temporary bytes of the prefix sums.
size_t ScanBytes(int64_t slots) {
  size_t bytes = 0;
  CheckCuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<int*>(nullptr),
                                          static_cast<int*>(nullptr),
                                          static_cast<int>(Tiles(slots) * kBuckets)),
            "cub::DeviceScan::ExclusiveSum");
  return bytes;
}

}  // namespace

size_t SlotOrderWorkspaceBytes(int64_t slots) {
  return slots == 0 ? 0 : CountBytes(slots) + ScanBytes(slots);
}

void SlotOrder(const SlotOrderArguments& arguments, cudaStream_t stream) {
  const int64_t slots = arguments.slots;
  if (slots == 0) return;
  if (slots > std::numeric_limits<int32_t>::max())
    throw KernelError("a micro-batch has more than 2^31 slots of experts");
  auto* counts = static_cast<int*>(arguments.workspace);
  const auto tiles = static_cast<unsigned>(Tiles(slots));
  CountTileKernel<<<tiles, kThreads, 0, stream>>>(arguments.experts, slots, counts);
  CheckLaunch("CountTile");
  size_t bytes = ScanBytes(slots);
  CheckCuda(cub::DeviceScan::ExclusiveSum(
                static_cast<char*>(arguments.workspace) + CountBytes(slots), bytes, counts, counts,
                static_cast<int>(tiles * kBuckets), stream),
            "cub::DeviceScan::ExclusiveSum");
  PlaceSlotsKernel<<<tiles, kThreads, 0, stream>>>(arguments, counts);
  CheckLaunch("PlaceSlots");
}

}  // namespace trainyard::trainer::kernels
