#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "trainer/kernels/attention.h"
#include "trainer/kernels/attention_graph.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/cudnn_graph.h"
#include "trainer/kernels/device_state.h"

namespace trainyard::trainer::kernels {
namespace {

// Versions from this one on set the memory of query_sum to zero themselves.
static_assert(CUDNN_VERSION >= 90600);

// Start of each part of the workspace: what memory from cudaMalloc is aligned to.
constexpr size_t kPartAlignment = 256;

size_t AlignedSize(size_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// Compiled passes of one shape.
class AttentionPlans {
 public:
  AttentionPlans(const AttentionShape& shape, cudnnHandle_t handle);

  const AttentionShape& shape() const { return shape_; }
  size_t WorkspaceBytes() const;
  void Forward(const AttentionForwardArguments& arguments, cudnnHandle_t handle) const;
  void Backward(const AttentionBackwardArguments& arguments, cudnnHandle_t handle) const;

 private:
  // Distance of the keys and of the values from the start of a packed row, in elements.
  int64_t KeyOffset() const { return shape_.query_heads * shape_.head_size; }
  int64_t ValueOffset() const { return KeyOffset() + shape_.key_heads * shape_.head_size; }
  // Bytes of the temporaries of the backward pass, which lie before cuDNN's own workspace.
  size_t RowSumBytes() const;
  size_t QuerySumBytes() const;

  AttentionShape shape_;
  AttentionForwardTensors forward_tensors_;
  CudnnPlan forward_;
  AttentionBackwardTensors backward_tensors_;
  CudnnPlan backward_;
};

template <typename Tensors>
CudnnPlan Compile(Tensors (*build)(const AttentionShape&, CudnnGraph&), const AttentionShape& shape,
                  cudnnHandle_t handle, Tensors& tensors) {
  CudnnGraph graph;
  tensors = build(shape, graph);
  return graph.Compile(handle, shape.deterministic);
}

AttentionPlans::AttentionPlans(const AttentionShape& shape, cudnnHandle_t handle)
    : shape_(shape),
      forward_(Compile(BuildAttentionForward, shape, handle, forward_tensors_)),
      backward_(Compile(BuildAttentionBackward, shape, handle, backward_tensors_)) {}

size_t AttentionPlans::RowSumBytes() const {
  return AlignedSize(shape_.batch * shape_.query_heads * shape_.length * sizeof(float));
}

size_t AttentionPlans::QuerySumBytes() const {
  if (shape_.deterministic) return 0;
  return AlignedSize(shape_.batch * shape_.query_heads * shape_.length * shape_.head_size *
                     sizeof(float));
}

size_t AttentionPlans::WorkspaceBytes() const {
  return std::max(forward_.workspace_bytes(),
                  RowSumBytes() + QuerySumBytes() + backward_.workspace_bytes());
}

// Pointer that counts bf16 elements, of two bytes; their values are of no interest here.
const uint16_t* Elements(const void* memory) { return static_cast<const uint16_t*>(memory); }

void AttentionPlans::Forward(const AttentionForwardArguments& arguments,
                             cudnnHandle_t handle) const {
  const uint16_t* packed = Elements(arguments.packed);
  const std::array bindings = {
      CudnnBinding{forward_tensors_.query, packed},
      CudnnBinding{forward_tensors_.key, packed + KeyOffset()},
      CudnnBinding{forward_tensors_.value, packed + ValueOffset()},
      CudnnBinding{forward_tensors_.out, arguments.out},
      CudnnBinding{forward_tensors_.log_sum_exp, arguments.log_sum_exp},
  };
  forward_.Run(handle, bindings, arguments.workspace);
}

void AttentionPlans::Backward(const AttentionBackwardArguments& arguments,
                              cudnnHandle_t handle) const {
  const uint16_t* packed = Elements(arguments.packed);
  const uint16_t* d_packed = Elements(arguments.d_packed);
  char* const row_sum = static_cast<char*>(arguments.workspace);
  char* const query_sum = row_sum + RowSumBytes();
  std::vector<CudnnBinding> bindings = {
      {backward_tensors_.query, packed},
      {backward_tensors_.key, packed + KeyOffset()},
      {backward_tensors_.value, packed + ValueOffset()},
      {backward_tensors_.out, arguments.out},
      {backward_tensors_.dout, arguments.dout},
      {backward_tensors_.log_sum_exp, arguments.log_sum_exp},
      {backward_tensors_.row_sum, row_sum},
      {backward_tensors_.d_query, d_packed},
      {backward_tensors_.d_key, d_packed + KeyOffset()},
      {backward_tensors_.d_value, d_packed + ValueOffset()},
  };
  if (!shape_.deterministic) bindings.emplace_back(backward_tensors_.query_sum, query_sum);
  backward_.Run(handle, bindings, query_sum + QuerySumBytes());
}

// Handle and plans of one device.
class AttentionState {
 public:
  AttentionState() { CheckCudnn(cudnnCreate(&handle_), "cudnnCreate"); }

  // Compares with each, as a run has few shapes.
  const AttentionPlans& PlansOf(const AttentionShape& shape) {
    for (const auto& plans : plans_) {
      if (plans->shape() == shape) return *plans;
    }
    return *plans_.emplace_back(std::make_unique<AttentionPlans>(shape, handle_));
  }

  cudnnHandle_t HandleOn(cudaStream_t stream) {
    CheckCudnn(cudnnSetStream(handle_, stream), "cudnnSetStream");
    return handle_;
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::vector<std::unique_ptr<AttentionPlans>> plans_;
};

}  // namespace

size_t AttentionWorkspaceBytes(const AttentionShape& shape) {
  return CurrentDeviceState<AttentionState>().PlansOf(shape).WorkspaceBytes();
}

void AttentionForward(const AttentionForwardArguments& arguments, cudaStream_t stream) {
  auto& state = CurrentDeviceState<AttentionState>();
  state.PlansOf(arguments.shape).Forward(arguments, state.HandleOn(stream));
}

void AttentionBackward(const AttentionBackwardArguments& arguments, cudaStream_t stream) {
  auto& state = CurrentDeviceState<AttentionState>();
  state.PlansOf(arguments.shape).Backward(arguments, state.HandleOn(stream));
}

}  // namespace trainyard::trainer::kernels
