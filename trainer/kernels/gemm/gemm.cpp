#include "trainer/kernels/gemm/gemm.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/device_state.h"
#include "trainer/kernels/gemm/gemm_plan.h"
#include "trainer/kernels/gemm/gemm_table.h"
#include "trainer/kernels/gemm/shipped_gemm_tables.h"

namespace trainyard::trainer::kernels {
namespace {

// The memory alignment in bytes for which the algorithms in the tables were tuned.
constexpr int kTableAlignment = 16;

// Returns the number of rows that may vary.
int64_t RowsOf(const GemmArguments& arguments) {
  return arguments.transpose_a ? arguments.k : arguments.m;
}

// Returns the shape that determines the algorithm. A varying number of rows is rounded up.
GemmShape ShapeOf(const GemmArguments& arguments) {
  const int64_t step = arguments.rows_vary ? kVaryingRowStep : 1;
  const int64_t rows = (RowsOf(arguments) + step - 1) / step * step;
  return {.m = arguments.transpose_a ? arguments.m : rows,
          .n = arguments.n,
          .k = arguments.transpose_a ? rows : arguments.k,
          .transpose_a = arguments.transpose_a,
          .transpose_b = arguments.transpose_b,
          .a_type = arguments.a_type,
          .b_type = arguments.b_type,
          .output_type = arguments.output_type,
          .has_c = arguments.c != nullptr,
          .c_is_d = arguments.c == arguments.d,
          .has_bias = arguments.bias != nullptr,
          .epilogue = arguments.epilogue,
          .fast_accumulation = arguments.fast_accumulation};
}

struct PlanKey {
  GemmShape shape;
  int alignment = 0;
  bool rows_vary = false;
  bool operator==(const PlanKey&) const = default;
};

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const {
    return GemmShapeHash()(key.shape) ^ static_cast<size_t>(2 * key.alignment + key.rows_vary);
  }
};

// Returns the algorithms that the build contains for the model of the current device.
GemmTable MakeTable() {
  int device = 0;
  CheckCuda(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties{};
  CheckCuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  GemmTable table(properties.name, static_cast<int64_t>(cublasLtGetVersion()));
  for (const std::string_view text : ShippedGemmTables()) table.Add(text, "a shipped table");
  return table;
}

// The cuBLASLt handle, the workspace and the plans of one device.
class GemmState {
 public:
  GemmState() : table_(MakeTable()) {
    CheckCublas(cublasLtCreate(&handle_), "cublasLtCreate");
    CheckCuda(cudaMalloc(&workspace_, kGemmWorkspaceBytes), "cudaMalloc");
  }

  void Run(const GemmArguments& arguments, cudaStream_t stream);
  void BeginTuning() { tunes_ = true; }
  void Save(const std::string& path) const { table_.Save(path); }

 private:
  GemmPlan& PlanOf(const GemmArguments& arguments);
  void Tune(const GemmArguments& arguments, cudaStream_t stream);
  cublasLtMatmulAlgo_t AlgorithmFor(const PlanKey& key, const GemmPlan& plan) const;

  bool tunes_ = false;
  GemmTable table_;
  cublasLtHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
  std::unordered_map<PlanKey, GemmPlan, PlanKeyHash> plans_;
};

cublasLtMatmulAlgo_t GemmState::AlgorithmFor(const PlanKey& key, const GemmPlan& plan) const {
  const std::optional<GemmAlgorithm> words =
      key.alignment == kTableAlignment ? table_.Find(key.shape) : std::nullopt;
  if (words) {
    const auto algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(*words);
    if (plan.Accepts(handle_, algorithm)) return algorithm;
  }
  return plan.Predicted(handle_, key.shape, key.alignment);
}

GemmPlan& GemmState::PlanOf(const GemmArguments& arguments) {
  const PlanKey key = {ShapeOf(arguments), GemmAlignment(arguments), arguments.rows_vary};
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  GemmPlan plan(key.shape);
  // Set first: cuBLASLt may read these addresses when it proposes algorithms.
  plan.SetBias(arguments.bias);
  plan.SetGeluInput(arguments.gelu_input);
  plan.SetFactors(arguments.a_factor, arguments.b_factor);
  plan.Choose(AlgorithmFor(key, plan));
  return plans_.emplace(key, std::move(plan)).first->second;
}

// If the algorithm for the rounded number of rows cannot run with the exact number, cuBLASLt
// returns an error before it queues anything. The algorithm is then chosen for the exact number.
void GemmState::Run(const GemmArguments& arguments, cudaStream_t stream) {
  if (tunes_ && !table_.Find(ShapeOf(arguments))) Tune(arguments, stream);
  const GemmPlan& plan = PlanOf(arguments);
  if (arguments.rows_vary) plan.SetRows(RowsOf(arguments), arguments.transpose_a);
  const cublasStatus_t status = plan.Run(handle_, arguments, workspace_, stream);
  if (arguments.rows_vary && status != CUBLAS_STATUS_SUCCESS) {
    GemmArguments exact = arguments;
    exact.rows_vary = false;
    return Run(exact, stream);
  }
  CheckCublas(status, "cublasLtMatmul");
}

class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    CheckCuda(cudaEventCreate(&start_), "cudaEventCreate");
    CheckCuda(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  // Ignores errors, because a destructor cannot report them. Such errors would come from earlier
  // work on the device.
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Returns the mean seconds per run over `count` runs; nullopt if a run fails.
  template <typename Run>
  std::optional<double> Measure(const Run& run, int count) {
    CheckCuda(cudaEventRecord(start_, stream_), "cudaEventRecord");
    for (int i = 0; i < count; ++i) {
      if (run() != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    }
    CheckCuda(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    CheckCuda(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    float milliseconds = 0.0F;
    CheckCuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return milliseconds * 1e-3 / count;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

// Returns the seconds per run while the GPU is under load; nullopt if the algorithm cannot run with
// this memory. The load matters, because power limits the clock of a large GPU. On a cold GPU the
// clock is higher, and the fastest algorithm may be one that needs more energy than others.
template <typename Run>
std::optional<double> Seconds(const Run& run, Stopwatch& stopwatch) {
  constexpr double kLoadSeconds = 0.2;  // Several periods (tens of ms) of the GPU's power control.
  constexpr double kMaxRuns = 2000;
  // The first run loads the kernel.
  if (!stopwatch.Measure(run, 1)) return std::nullopt;
  const std::optional<double> once = stopwatch.Measure(run, 1);
  if (!once) return std::nullopt;
  const int count = static_cast<int>(std::clamp(kLoadSeconds / *once, 3.0, kMaxRuns));
  if (!stopwatch.Measure(run, count)) return std::nullopt;
  return stopwatch.Measure(run, count);
}

// Measures the candidate algorithms for a product and keeps the fastest. Does nothing if the
// operands are not aligned to kTableAlignment.
void GemmState::Tune(const GemmArguments& arguments, cudaStream_t stream) {
  if (GemmAlignment(arguments) != kTableAlignment) return;
  GemmPlan& plan = PlanOf(arguments);
  if (arguments.rows_vary) plan.SetRows(RowsOf(arguments), arguments.transpose_a);
  Stopwatch stopwatch(stream);
  std::optional<cublasLtMatmulAlgo_t> best;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (const auto& algorithm : plan.Candidates(handle_, kTableAlignment, kGemmCandidates)) {
    plan.Choose(algorithm);
    const auto run = [&] { return plan.Run(handle_, arguments, workspace_, stream); };
    const std::optional<double> seconds = Seconds(run, stopwatch);
    if (!seconds || *seconds >= best_seconds) continue;
    best = algorithm;
    best_seconds = *seconds;
  }
  if (!best) throw KernelError("no cuBLASLt algorithm could run this matrix product");
  plan.Choose(*best);
  table_.Set(ShapeOf(arguments), std::bit_cast<GemmAlgorithm>(*best));
}

}  // namespace

void Gemm(const GemmArguments& arguments, cudaStream_t stream) {
  CheckFp8Product(arguments);
  CurrentDeviceState<GemmState>().Run(arguments, stream);
}

void TuneGemms() { CurrentDeviceState<GemmState>().BeginTuning(); }

void SaveGemmTable(const std::string& path) { CurrentDeviceState<GemmState>().Save(path); }

}  // namespace trainyard::trainer::kernels
