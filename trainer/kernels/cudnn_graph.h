// Graphs of tensor operations that cuDNN fuses into a few kernels.
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

// Sizes of the four dimensions, outermost first, and their strides in elements.
struct CudnnLayout {
  std::array<int64_t, 4> sizes;
  std::array<int64_t, 4> strides;
};

// A layout without gaps, with the last dimension contiguous.
CudnnLayout DenseLayout(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

// The same memory with the last two dimensions swapped.
CudnnLayout TransposedLayout(const CudnnLayout& layout);

// Id of a tensor within one graph.
enum class CudnnTensor : int64_t {};

// Memory of one tensor for a run.
using CudnnBinding = std::pair<CudnnTensor, const void*>;

// A graph compiled for the device.
class CudnnPlan {
 public:
  // configuration: the plan's configuration; kept, because cuDNN might not copy it. scalars: host
  // values read by every run.
  CudnnPlan(CudnnDescriptor plan, CudnnDescriptor configuration,
            std::vector<std::pair<CudnnTensor, float>> scalars);

  size_t workspace_bytes() const { return workspace_bytes_; }

  // Runs on the handle's stream. bindings: all tensors added with AddMemory.
  void Run(cudnnHandle_t handle, std::span<const CudnnBinding> bindings, void* workspace) const;

 private:
  CudnnDescriptor configuration_;
  CudnnDescriptor plan_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
  size_t workspace_bytes_ = 0;
};

// Operations compute in fp32, or in the type of their result if that is not a floating-point type.
class CudnnGraph {
 public:
  // Adds a tensor whose memory is passed to every run.
  CudnnTensor AddMemory(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a tensor that exists only between operations of the graph and uses no memory.
  CudnnTensor AddVirtual(const CudnnLayout& layout, cudnnDataType_t type);
  // Adds a constant.
  CudnnTensor AddScalar(float value);

  // Computes c = a b in the last two dimensions. If b has fewer heads than a, consecutive heads of
  // a share a head of b.
  void Matmul(CudnnTensor a, CudnnTensor b, CudnnTensor c);
  // Applies the mode to its one to three inputs. For a selection, the third input is the condition.
  void Pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnTensor> inputs,
                 CudnnTensor output);
  // Sets each element of the output to its index in dimension `axis`. x: a tensor of the same size.
  void Index(int64_t axis, CudnnTensor x, CudnnTensor output);
  // Reduces the dimensions in which the output is smaller.
  void Reduce(cudnnReduceTensorOp_t operation, CudnnTensor x, CudnnTensor output);
  // Changes the layout of x's elements, for example to a transposed one.
  void Reshape(CudnnTensor x, CudnnTensor output);

  // Uses the first engine from cuDNN's heuristics that supports the graph; with `deterministic`,
  // the first not marked as nondeterministic. Throws UnsupportedShape if there is none.
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
  // Modes and types of operations, referenced by the operations.
  std::vector<CudnnDescriptor> settings_;
  std::vector<CudnnDescriptor> operations_;
  std::vector<std::pair<CudnnTensor, float>> scalars_;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_CUDNN_GRAPH_H_
