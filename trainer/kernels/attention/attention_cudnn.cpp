#include <memory>
#include <optional>
#include <vector>

#include "trainer/kernels/attention/attention.h"
#include "trainer/kernels/attention/attention_graph.h"
#include "trainer/kernels/attention/cudnn_graph.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/device_state.h"

namespace trainyard::trainer::kernels {
namespace {

// From this version on, cuDNN zeroes query_sum itself.
static_assert(CUDNN_VERSION >= 90600);

// The alignment of each part of the workspace in bytes. Memory from cudaMalloc has the same
// alignment.
constexpr size_t kPartAlignment = 256;

size_t AlignedSize(size_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// The plans for one shape. The plan of each pass is compiled when it is first used.
class AttentionPlans {
 public:
  AttentionPlans(const AttentionShape& shape, cudnnHandle_t handle)
      : shape_(shape), handle_(handle) {}

  const AttentionShape& shape() const { return shape_; }
  size_t ForwardWorkspaceBytes() { return ForwardPlan().workspace_bytes(); }
  size_t BackwardWorkspaceBytes() {
    return RowSumBytes() + QuerySumBytes() + BackwardPlan().workspace_bytes();
  }
  void Forward(const AttentionForwardArguments& arguments);
  void Backward(const AttentionBackwardArguments& arguments);

 private:
  template <typename Tensors>
  CudnnPlan Compile(Tensors (*build)(const AttentionShape&, CudnnGraph&), Tensors& tensors) const {
    CudnnGraph graph;
    tensors = build(shape_, graph);
    return graph.Compile(handle_, shape_.deterministic);
  }
  const CudnnPlan& ForwardPlan() {
    if (!forward_) forward_.emplace(Compile(BuildAttentionForward, forward_tensors_));
    return *forward_;
  }
  const CudnnPlan& BackwardPlan() {
    if (!backward_) backward_.emplace(Compile(BuildAttentionBackward, backward_tensors_));
    return *backward_;
  }
  int64_t QueryRows() const { return shape_.batch * shape_.query_heads * shape_.query_length; }
  // Returns the size in bytes of the backward pass's temporaries, which precede cuDNN's own
  // workspace.
  size_t RowSumBytes() const;
  size_t QuerySumBytes() const;

  AttentionShape shape_;
  cudnnHandle_t handle_;
  AttentionForwardTensors forward_tensors_;
  std::optional<CudnnPlan> forward_;
  AttentionBackwardTensors backward_tensors_;
  std::optional<CudnnPlan> backward_;
};

size_t AttentionPlans::RowSumBytes() const { return AlignedSize(QueryRows() * sizeof(float)); }

size_t AttentionPlans::QuerySumBytes() const {
  if (shape_.deterministic) return 0;
  return AlignedSize(QueryRows() * shape_.head_size * sizeof(float));
}

void AttentionPlans::Forward(const AttentionForwardArguments& arguments) {
  const CudnnPlan& plan = ForwardPlan();
  std::vector<CudnnBinding> bindings = {
      {forward_tensors_.query, arguments.query},
      {forward_tensors_.key, arguments.key},
      {forward_tensors_.value, arguments.value},
      {forward_tensors_.out, arguments.out},
      {forward_tensors_.log_sum_exp, arguments.log_sum_exp},
  };
  if (shape_.biased) bindings.emplace_back(forward_tensors_.bias, arguments.bias);
  plan.Run(handle_, bindings, arguments.workspace);
}

void AttentionPlans::Backward(const AttentionBackwardArguments& arguments) {
  const CudnnPlan& plan = BackwardPlan();
  char* const row_sum = static_cast<char*>(arguments.workspace);
  char* const query_sum = row_sum + RowSumBytes();
  std::vector<CudnnBinding> bindings = {
      {backward_tensors_.query, arguments.query},
      {backward_tensors_.key, arguments.key},
      {backward_tensors_.value, arguments.value},
      {backward_tensors_.out, arguments.out},
      {backward_tensors_.dout, arguments.dout},
      {backward_tensors_.log_sum_exp, arguments.log_sum_exp},
      {backward_tensors_.row_sum, row_sum},
      {backward_tensors_.d_query, arguments.d_query},
      {backward_tensors_.d_key, arguments.d_key},
      {backward_tensors_.d_value, arguments.d_value},
  };
  if (shape_.biased) bindings.emplace_back(backward_tensors_.bias, arguments.bias);
  if (!shape_.deterministic) bindings.emplace_back(backward_tensors_.query_sum, query_sum);
  plan.Run(handle_, bindings, query_sum + QuerySumBytes());
}

// The cuDNN handle and the plans of one device.
class AttentionState {
 public:
  AttentionState() { CheckCudnn(cudnnCreate(&handle_), "cudnnCreate"); }

  // Uses a linear search, because a run has few shapes.
  AttentionPlans& PlansOf(const AttentionShape& shape) {
    for (const auto& plans : plans_) {
      if (plans->shape() == shape) return *plans;
    }
    return *plans_.emplace_back(std::make_unique<AttentionPlans>(shape, handle_));
  }

  // Sets the stream for later runs of plans.
  void UseStream(cudaStream_t stream) {
    CheckCudnn(cudnnSetStream(handle_, stream), "cudnnSetStream");
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::vector<std::unique_ptr<AttentionPlans>> plans_;
};

}  // namespace

size_t AttentionForwardWorkspaceBytes(const AttentionShape& shape) {
  return CurrentDeviceState<AttentionState>().PlansOf(shape).ForwardWorkspaceBytes();
}

size_t AttentionBackwardWorkspaceBytes(const AttentionShape& shape) {
  return CurrentDeviceState<AttentionState>().PlansOf(shape).BackwardWorkspaceBytes();
}

void AttentionForward(const AttentionForwardArguments& arguments, cudaStream_t stream) {
  auto& state = CurrentDeviceState<AttentionState>();
  state.UseStream(stream);
  state.PlansOf(arguments.shape).Forward(arguments);
}

void AttentionBackward(const AttentionBackwardArguments& arguments, cudaStream_t stream) {
  auto& state = CurrentDeviceState<AttentionState>();
  state.UseStream(stream);
  state.PlansOf(arguments.shape).Backward(arguments);
}

}  // namespace trainyard::trainer::kernels
