#include "trainer/checkpoint_tools/commands/value_difference.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

constexpr size_t kThreads = 16;
// The number of elements in a partial sum. Partial sums always have this size, so the total does
// not depend on the number of threads.
constexpr int64_t kPartElements = int64_t{1} << 20;

void AddPair(double a, double b, ValueDifference* sum) {
  const bool is_nan_a = std::isnan(a), is_nan_b = std::isnan(b);
  sum->nan_a += is_nan_a;
  sum->nan_b += is_nan_b;
  sum->unpaired_nan += is_nan_a != is_nan_b;
  if (std::isfinite(a)) sum->squared_a += a * a;
  if (is_nan_a || is_nan_b || a == b) return;
  const double difference = std::abs(b - a);
  sum->max_abs = std::max(sum->max_abs, difference);
  sum->squared_difference += difference * difference;
}

template <typename T>
ValueDifference ComparePart(const char* a, const char* b, int64_t elements) {
  ValueDifference sum;
  sum.elements = elements;
  for (int64_t i = 0; i < elements; ++i) {
    T left, right;  // Copied, because the bytes may not be aligned for T.
    std::memcpy(&left, a + i * sizeof(T), sizeof(T));
    std::memcpy(&right, b + i * sizeof(T), sizeof(T));
    sum.different += std::memcmp(&left, &right, sizeof(T)) != 0;
    AddPair(static_cast<double>(left), static_cast<double>(right), &sum);
  }
  return sum;
}

using Compare = ValueDifference (*)(const char*, const char*, int64_t);

Compare CompareOf(torch::ScalarType dtype) {
  switch (dtype) {
    case torch::kFloat32:
      return ComparePart<float>;
    case torch::kBFloat16:
      return ComparePart<c10::BFloat16>;
    case torch::kFloat16:
      return ComparePart<c10::Half>;
    case torch::kFloat64:
      return ComparePart<double>;
    case torch::kInt64:
      return ComparePart<int64_t>;
    case torch::kInt32:
      return ComparePart<int32_t>;
    case torch::kInt16:
      return ComparePart<int16_t>;
    case torch::kInt8:
      return ComparePart<int8_t>;
    case torch::kUInt8:
    case torch::kBool:  // Compared as bytes: the file may store any byte, but bool must be 0 or 1.
      return ComparePart<uint8_t>;
    default:
      throw TrainerError(ExitCode::kInternal, "cannot compare tensors of " + DtypeName(dtype));
  }
}

}  // namespace

void ValueDifference::Add(const ValueDifference& more) {
  elements += more.elements;
  different += more.different;
  nan_a += more.nan_a;
  nan_b += more.nan_b;
  unpaired_nan += more.unpaired_nan;
  max_abs = std::max(max_abs, more.max_abs);
  squared_difference += more.squared_difference;
  squared_a += more.squared_a;
}

double ValueDifference::RelativeL2() const {
  if (squared_difference == 0) return 0;
  return std::sqrt(squared_difference) / std::sqrt(squared_a);
}

bool ValueDifference::IsWithin(double tolerance) const {
  if (tolerance == 0) return different == 0;
  return unpaired_nan == 0 && RelativeL2() <= tolerance;
}

ValueDifference CompareValues(torch::ScalarType dtype, const char* a, const char* b,
                              int64_t elements) {
  const Compare compare = CompareOf(dtype);
  const auto element_bytes = static_cast<int64_t>(c10::elementSize(dtype));
  const auto parts = static_cast<size_t>((elements + kPartElements - 1) / kPartElements);
  std::vector<ValueDifference> sums(parts);
  ParallelTasks(parts, kThreads, [&](size_t, size_t part) {
    const int64_t first = static_cast<int64_t>(part) * kPartElements;
    sums[part] = compare(a + first * element_bytes, b + first * element_bytes,
                         std::min(kPartElements, elements - first));
  });
  ValueDifference all;
  for (const ValueDifference& sum : sums) all.Add(sum);
  return all;
}

}  // namespace trainyard::trainer
