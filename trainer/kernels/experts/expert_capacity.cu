#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/experts/expert_capacity.h"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kDigits = 256;  // The weight is read 8 bits at a time, the highest bits first.

// The slots of one sequence, and one of its experts.
struct ExpertSlots {
  const int64_t* experts;
  const float* weights;
  int64_t* marked;
  int64_t count;
  int64_t expert;

  __device__ bool Has(int64_t slot) const { return slot < count && experts[slot] == expert; }
  // Returns a key that increases with the slot's weight: the bits of the weight. For floats >= 0,
  // the bits, read as an integer, have the same order as the values.
  __device__ uint32_t Key(int64_t slot) const {
    return weights == nullptr ? 0 : __float_as_uint(weights[slot]);
  }
};

// Keeps the slots with keys above `key`, and the first `places` slots with keys equal to `key`.
struct Threshold {
  uint32_t key;
  int64_t places;
};

struct SharedMemory {
  unsigned int histogram[kDigits];
  unsigned int warp_counts[kWarps];
  Threshold threshold;
};

// Counts the slots by the digit at `shift`. Only slots whose higher digits equal those of the
// threshold are counted.
__device__ void CountDigits(const ExpertSlots& slots, uint32_t key, int shift,
                            SharedMemory& shared) {
  for (int i = threadIdx.x; i < kDigits; i += kThreads) shared.histogram[i] = 0;
  __syncthreads();
  const uint64_t above = static_cast<uint64_t>(key) >> (shift + 8);
  for (int64_t slot = threadIdx.x; slot < slots.count; slot += kThreads) {
    if (!slots.Has(slot)) continue;
    const uint64_t own = slots.Key(slot);
    if (own >> (shift + 8) == above) atomicAdd(&shared.histogram[own >> shift & 255], 1u);
  }
  __syncthreads();
}

// Finds the digit of the threshold at `shift`. `places` is the number of counted slots to keep.
__device__ void FindDigit(int shift, SharedMemory& shared) {
  if (threadIdx.x == 0) {
    Threshold& threshold = shared.threshold;
    int digit = kDigits - 1;
    while (digit > 0 && shared.histogram[digit] < threshold.places) {
      threshold.places -= shared.histogram[digit--];
    }
    threshold.key |= static_cast<uint32_t>(digit) << shift;
  }
  __syncthreads();
}

// Returns `total` plus the number of threads with a lower index that have the flag. Then adds to
// `total` the number of all threads of the block that have the flag.
__device__ int64_t RankOfFlag(bool flag, SharedMemory& shared, int64_t& total) {
  const unsigned int votes = __ballot_sync(0xffffffffu, flag);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  if (lane == 0) shared.warp_counts[warp] = __popc(votes);
  __syncthreads();
  int64_t rank = total + __popc(votes & ((1u << lane) - 1));
  for (int i = 0; i < kWarps; ++i) {
    if (i < warp) rank += shared.warp_counts[i];
    total += shared.warp_counts[i];
  }
  __syncthreads();
  return rank;
}

__device__ void MarkSlots(const ExpertSlots& slots, const Threshold& threshold,
                          SharedMemory& shared) {
  int64_t equal_so_far = 0;
  for (int64_t first = 0; first < slots.count; first += kThreads) {
    const int64_t slot = first + threadIdx.x;
    const bool has = slots.Has(slot);
    const uint32_t key = has ? slots.Key(slot) : 0;
    const bool is_equal = has && key == threshold.key;
    const int64_t rank = RankOfFlag(is_equal, shared, equal_so_far);
    if (!has) continue;
    const bool is_kept = key > threshold.key || (is_equal && rank < threshold.places);
    slots.marked[slot] = is_kept ? slots.expert : -1 - slots.expert;
  }
}

// One block for each expert and sequence.
__global__ void __launch_bounds__(kThreads)
    DropAboveCapacityKernel(DropAboveCapacityArguments arguments) {
  __shared__ SharedMemory shared;
  const int64_t sequence = blockIdx.y, first = sequence * arguments.slots;
  const ExpertSlots slots{arguments.experts + first,
                          arguments.weights == nullptr ? nullptr : arguments.weights + first,
                          arguments.marked + first, arguments.slots, blockIdx.x};
  if (threadIdx.x == 0) shared.threshold = {0, arguments.capacity};
  __syncthreads();
  // Without weights, all keys are 0, and so is the initial threshold.
  for (int shift = 24; shift >= 0 && slots.weights != nullptr; shift -= 8) {
    CountDigits(slots, shared.threshold.key, shift, shared);
    FindDigit(shift, shared);
  }
  MarkSlots(slots, shared.threshold, shared);
}

}  // namespace

void DropAboveCapacity(const DropAboveCapacityArguments& arguments, cudaStream_t stream) {
  if (arguments.sequences == 0 || arguments.slots == 0) return;
  const dim3 grid(static_cast<unsigned>(arguments.expert_count),
                  static_cast<unsigned>(arguments.sequences));
  DropAboveCapacityKernel<<<grid, kThreads, 0, stream>>>(arguments);
  CheckLaunch("DropAboveCapacity");
}

}  // namespace trainyard::trainer::kernels
