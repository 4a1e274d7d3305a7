// Builds graphs of tensor operations, which cuDNN fuses into a few kernels.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_GRAPH_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_GRAPH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "trainer/kernels/attention/cudnn_descriptor.h"

namespace trainyard::trainer::kernels {

// The sizes of the four dimensions, outermost first, and the strides of the dimensions in elements.
struct CudnnLayout {
  std::array<int64_t, 4> sizes;
  std::array<int64_t, 4> strides;
};

// Returns a layout without gaps, in which the last dimension is contiguous.
CudnnLayout DenseLayout(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

// Returns a layout for the same memory, with the last two dimensions swapped.
CudnnLayout TransposedLayout(const CudnnLayout& layout);

// The id of a tensor within one graph.
enum class CudnnTensor : int64_t {};

// A tensor and its memory in one run.
using CudnnBinding = std::pair<CudnnTensor, const void*>;

// A graph that has been compiled for the device.
class CudnnPlan {
 public:
  // The plan keeps `configuration`, because cuDNN may not copy it. `scalars` are host values that
  // every run reads.
  CudnnPlan(CudnnDescriptor plan, CudnnDescriptor configuration,
            std::vector<std::pair<CudnnTensor, float>> scalars);

  size_t workspace_bytes() const { return workspace_bytes_; }

  // Runs the plan on the stream of the handle. `bindings` must contain every tensor that was added
  // with AddMemory.
  void Run(cudnnHandle_t handle, std::span<const CudnnBinding> bindings, void* workspace) const;

 private:
  CudnnDescriptor configuration_;
  CudnnDescriptor plan_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
  size_t workspace_bytes_ = 0;
};

// A graph under construction. Operations compute in fp32 or, if the type of their result is not a
// floating-point type, in that type.
class CudnnGraph {
 public:
  // Adds a tensor whose memory the caller passes to every run.
  CudnnTensor AddMemory(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a tensor that only connects operations of the graph and uses no memory.
  CudnnTensor AddVirtual(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a constant.
  CudnnTensor AddScalar(float value);

  // Computes c = a b over the last two dimensions. If b has fewer heads than a, consecutive heads
  // of a use the same head of b.
  void Matmul(CudnnTensor a, CudnnTensor b, CudnnTensor c);
  // Applies the operation `mode` to one to three inputs. For a selection, the third input is the
  // condition.
  void Pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnTensor> inputs,
                 CudnnTensor output);
  // Sets each element of `output` to its own index in dimension `axis`. `x` is any tensor of the
  // same size.
  void Index(int64_t axis, CudnnTensor x, CudnnTensor output);
  // Reduces those dimensions in which `output` is smaller than `x`.
  void Reduce(cudnnReduceTensorOp_t operation, CudnnTensor x, CudnnTensor output);
  // Changes the layout of x's elements, for example by transposing them.
  void Reshape(CudnnTensor x, CudnnTensor output);

  // Compiles the graph for the first supporting engine in the order of cuDNN's heuristics. With
  // `deterministic`, skips engines marked as nondeterministic. Throws UnsupportedShape if no engine
  // remains.
  CudnnPlan Compile(cudnnHandle_t handle, bool deterministic);

 private:
  struct TensorEntry {
    CudnnDescriptor descriptor;
    cudnnDataType_t type;
  };

  CudnnTensor AddTensor(const CudnnLayout& layout, cudnnDataType_t type,
                        cudnnBackendAttributeName_t kind, bool is_kind);
  const TensorEntry& Entry(CudnnTensor tensor) const;
  cudnnDataType_t PrecisionFor(CudnnTensor output) const;
  void AddPointwise(CudnnDescriptor mode, std::initializer_list<CudnnTensor> inputs,
                    CudnnTensor output);
  CudnnDescriptor OperationGraph(cudnnHandle_t handle) const;

  std::vector<TensorEntry> tensors_;
  // Modes and types that the operations refer to.
  std::vector<CudnnDescriptor> settings_;
  std::vector<CudnnDescriptor> operations_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_GRAPH_H_
