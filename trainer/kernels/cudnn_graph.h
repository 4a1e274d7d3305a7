// Graphs of tensor operations that cuDNN fuses into few kernels.
#ifndef TRAINYARD_TRAINER_KERNELS_CUDNN_GRAPH_H_
#define TRAINYARD_TRAINER_KERNELS_CUDNN_GRAPH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "trainer/kernels/cudnn_descriptor.h"

namespace trainyard::trainer::kernels {

// Sizes of the four dimensions, outermost first, and the distance of neighbours in each, in
// elements.
struct CudnnLayout {
  std::array<int64_t, 4> sizes;
  std::array<int64_t, 4> strides;
};

// Rows without gaps: the last dimension is the densest.
CudnnLayout DenseLayout(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

// The same memory with the last two dimensions exchanged.
CudnnLayout TransposedLayout(const CudnnLayout& layout);

// Name of a tensor within one graph.
enum class CudnnTensor : int64_t {};

// Memory of one tensor for a run.
using CudnnBinding = std::pair<CudnnTensor, const void*>;

// A graph that was compiled for the device.
class CudnnPlan {
 public:
  // configuration: that of the plan, which cuDNN need not copy. scalars: host values that every
  // run reads.
  CudnnPlan(CudnnDescriptor plan, CudnnDescriptor configuration,
            std::vector<std::pair<CudnnTensor, float>> scalars);

  size_t workspace_bytes() const { return workspace_bytes_; }

  // Runs on the handle's stream. bindings: all tensors that were added with AddMemory.
  void Run(cudnnHandle_t handle, std::span<const CudnnBinding> bindings, void* workspace) const;

 private:
  CudnnDescriptor configuration_;
  CudnnDescriptor plan_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
  size_t workspace_bytes_ = 0;
};

// Operations compute in fp32, or in the type of their result where that is no floating type.
class CudnnGraph {
 public:
  // Adds a tensor whose memory every run names.
  CudnnTensor AddMemory(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a tensor that exists only between operations of the graph, so that it costs no memory.
  CudnnTensor AddVirtual(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a constant.
  CudnnTensor AddScalar(float value);

  // Computes c = a b in the last two dimensions. A head of b serves several that follow each other
  // in a when b has fewer.
  void Matmul(CudnnTensor a, CudnnTensor b, CudnnTensor c);
  // Applies the mode to one to three inputs, as it wants; the last of three is the condition of a
  // selection.
  void Pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnTensor> inputs,
                 CudnnTensor output);
  // Sets each element of the output to its index in dimension `axis`; x: of the same sizes.
  void Index(int64_t axis, CudnnTensor x, CudnnTensor output);
  // Reduces the dimensions in which the output has a smaller size.
  void Reduce(cudnnReduceTensorOp_t operation, CudnnTensor x, CudnnTensor output);
  // Gives the elements of x another layout, such as a transposed one.
  void Reshape(CudnnTensor x, CudnnTensor output);

  // Takes the first engine of cuDNN's heuristics that supports the graph; with `deterministic`,
  // none that cuDNN notes as nondeterministic. Throws UnsupportedShape when there is none.
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
  // Modes and types of operations; an operation refers to its own.
  std::vector<CudnnDescriptor> settings_;
  std::vector<CudnnDescriptor> operations_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_CUDNN_GRAPH_H_
