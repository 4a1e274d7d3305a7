#include "trainer/kernels/attention/cudnn_graph.h"

#include <algorithm>
#include <optional>
#include <string>

#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {
namespace {

// The alignment of every tensor in bytes, required by the widest loads of the fused kernels.
constexpr int64_t kAlignment = 16;

// The maximum number of candidates per heuristic. Attention has fewer than ten.
constexpr int64_t kMaxCandidates = 32;

// True unless cuDNN marks the engine as nondeterministic. The mark applies to the engine, not to a
// graph: engines for fused attention lack the mark, even if the graph lets blocks add in any order.
bool IsDeterministic(const CudnnDescriptor& configuration) {
  const std::vector<CudnnDescriptor> engines =
      configuration.GetDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  const std::vector<cudnnBackendNumericalNote_t> notes =
      engines.at(0).GetNotes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  return std::ranges::find(notes, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes.end();
}

// Returns the engine configurations, sorted by expected speed.
std::vector<CudnnDescriptor> Candidates(const CudnnDescriptor& graph, cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.SetEnumeration(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  // A heuristic fails if it does not support the graph. Another heuristic may support it.
  if (!heuristic.TryFinalize()) return {};
  return heuristic.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                  kMaxCandidates);
}

std::optional<CudnnDescriptor> TryPlan(cudnnHandle_t handle, const CudnnDescriptor& configuration) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.SetHandle(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
  plan.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (!plan.TryFinalize()) return std::nullopt;
  return plan;
}

}  // namespace

CudnnLayout DenseLayout(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
  return {{batch, heads, rows, columns}, {heads * rows * columns, rows * columns, columns, 1}};
}

CudnnLayout TransposedLayout(const CudnnLayout& layout) {
  CudnnLayout result = layout;
  std::swap(result.sizes[2], result.sizes[3]);
  std::swap(result.strides[2], result.strides[3]);
  return result;
}

CudnnPlan::CudnnPlan(CudnnDescriptor plan, CudnnDescriptor configuration,
                     std::vector<std::pair<CudnnTensor, float>> scalars)
    : configuration_(std::move(configuration)),
      plan_(std::move(plan)),
      scalars_(std::move(scalars)),
      workspace_bytes_(plan_.GetInteger(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {}

void CudnnPlan::Run(cudnnHandle_t handle, std::span<const CudnnBinding> bindings,
                    void* workspace) const {
  std::vector<int64_t> ids;
  std::vector<void*> pointers;
  // Inputs and outputs are in the same list, as the interface requires.
  auto bind = [&](CudnnTensor tensor, const void* memory) {
    ids.push_back(static_cast<int64_t>(tensor));
    pointers.push_back(const_cast<void*>(memory));
  };
  for (const auto& [tensor, memory] : bindings) bind(tensor, memory);
  for (const auto& [tensor, value] : scalars_) bind(tensor, &value);

  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.SetIntegers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.SetPointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers);
  pack.SetPointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {&workspace, 1});
  pack.Finalize();
  CheckCudnn(cudnnBackendExecute(handle, plan_.get(), pack.get()), "cudnnBackendExecute");
}

CudnnTensor CudnnGraph::AddTensor(const CudnnLayout& layout, cudnnDataType_t type,
                                  cudnnBackendAttributeName_t kind, bool is_kind) {
  // Ids start at 1, so that an unset id never refers to a tensor.
  const auto id = static_cast<int64_t>(tensors_.size()) + 1;
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.SetType(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  tensor.SetIntegers(CUDNN_ATTR_TENSOR_DIMENSIONS, layout.sizes);
  tensor.SetIntegers(CUDNN_ATTR_TENSOR_STRIDES, layout.strides);
  tensor.SetInteger(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  tensor.SetInteger(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  tensor.SetBool(kind, is_kind);
  tensor.Finalize();
  tensors_.push_back({std::move(tensor), type});
  return CudnnTensor{id};
}

CudnnTensor CudnnGraph::AddMemory(const CudnnLayout& layout, cudnnDataType_t type) {
  return AddTensor(layout, type, CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
}

CudnnTensor CudnnGraph::AddVirtual(const CudnnLayout& layout, cudnnDataType_t type) {
  return AddTensor(layout, type, CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
}

CudnnTensor CudnnGraph::AddScalar(float value) {
  const CudnnTensor tensor =
      AddTensor(DenseLayout(1, 1, 1, 1), CUDNN_DATA_FLOAT, CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
  scalars_.emplace_back(tensor, value);
  return tensor;
}

const CudnnGraph::TensorEntry& CudnnGraph::Entry(CudnnTensor tensor) const {
  return tensors_.at(static_cast<size_t>(tensor) - 1);
}

cudnnDataType_t CudnnGraph::PrecisionFor(CudnnTensor output) const {
  const cudnnDataType_t type = Entry(output).type;
  const bool is_16_bit = type == CUDNN_DATA_BFLOAT16 || type == CUDNN_DATA_HALF;
  return is_16_bit ? CUDNN_DATA_FLOAT : type;
}

void CudnnGraph::Matmul(CudnnTensor a, CudnnTensor b, CudnnTensor c) {
  CudnnDescriptor type(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  type.SetType(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  type.Finalize();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC, Entry(a).descriptor);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC, Entry(b).descriptor);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC, Entry(c).descriptor);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC, type);
  operation.Finalize();
  settings_.push_back(std::move(type));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::Pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnTensor> inputs,
                           CudnnTensor output) {
  CudnnDescriptor setting(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  setting.SetEnumeration(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  setting.SetType(CUDNN_ATTR_POINTWISE_MATH_PREC, PrecisionFor(output));
  AddPointwise(std::move(setting), inputs, output);
}

void CudnnGraph::Index(int64_t axis, CudnnTensor x, CudnnTensor output) {
  CudnnDescriptor setting(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  setting.SetEnumeration(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
                         CUDNN_POINTWISE_GEN_INDEX);
  setting.SetType(CUDNN_ATTR_POINTWISE_MATH_PREC, PrecisionFor(output));
  setting.SetInteger(CUDNN_ATTR_POINTWISE_AXIS, axis);
  AddPointwise(std::move(setting), {x}, output);
}

void CudnnGraph::AddPointwise(CudnnDescriptor setting, std::initializer_list<CudnnTensor> inputs,
                              CudnnTensor output) {
  setting.Finalize();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, setting);
  constexpr std::array kPorts = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                 CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                 CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  size_t port = 0;
  for (const CudnnTensor input : inputs) {
    operation.SetDescriptor(kPorts.at(port++), Entry(input).descriptor);
  }
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, Entry(output).descriptor);
  operation.Finalize();
  settings_.push_back(std::move(setting));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::Reduce(cudnnReduceTensorOp_t operation, CudnnTensor x, CudnnTensor output) {
  CudnnDescriptor setting(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  setting.SetEnumeration(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
                         operation);
  setting.SetType(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  setting.Finalize();
  CudnnDescriptor reduction(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  reduction.SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC, setting);
  reduction.SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, Entry(x).descriptor);
  reduction.SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, Entry(output).descriptor);
  reduction.Finalize();
  settings_.push_back(std::move(setting));
  operations_.push_back(std::move(reduction));
}

void CudnnGraph::Reshape(CudnnTensor x, CudnnTensor output) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, Entry(x).descriptor);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, Entry(output).descriptor);
  operation.Finalize();
  operations_.push_back(std::move(operation));
}

CudnnDescriptor CudnnGraph::OperationGraph(cudnnHandle_t handle) const {
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const CudnnDescriptor& operation : operations_) operations.push_back(operation.get());
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.SetHandle(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.SetDescriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.Finalize();
  return graph;
}

CudnnPlan CudnnGraph::Compile(cudnnHandle_t handle, bool deterministic) {
  const CudnnDescriptor graph = OperationGraph(handle);
  int rejected = 0;
  for (const cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    for (CudnnDescriptor& candidate : Candidates(graph, mode)) {
      if (deterministic && !IsDeterministic(candidate)) {
        ++rejected;
        continue;
      }
      std::optional<CudnnDescriptor> plan = TryPlan(handle, candidate);
      if (plan) return CudnnPlan(std::move(*plan), std::move(candidate), scalars_);
      ++rejected;
    }
  }
  throw UnsupportedShape("cuDNN has no " + std::string(deterministic ? "deterministic " : "") +
                         "engine for the graph; candidates rejected: " + std::to_string(rejected) +
                         "; last error: " + LastCudnnError());
}

}  // namespace trainyard::trainer::kernels
