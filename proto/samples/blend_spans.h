// The order of samples of a blend whose shares change at given positions.
//
// A span is a range of consecutive positions with the same shares. BlendOrder defines the order
// within a span. In a new span, each source continues with its first sample that no earlier span
// has used. The spans are a pure function of the settings. A resumed run keeps the span in which
// its checkpoint was written, so that changed settings do not change the samples used so far.
#ifndef TRAINYARD_PROTO_SAMPLES_BLEND_SPANS_H_
#define TRAINYARD_PROTO_SAMPLES_BLEND_SPANS_H_

#include <cstdint>
#include <vector>

#include "proto/rules/batch_plan.h"
#include "proto/rules/blend_stages.h"
#include "proto/samples/blend_order.h"

namespace trainyard {

struct BlendSpan {
  int64_t first = 0;            // Its first position. It ends where the next span begins.
  std::vector<int64_t> shares;  // By source.
  std::vector<int64_t> taken;   // Number of samples of each source before `first`.

  bool operator==(const BlendSpan&) const = default;
};

// The point at which a run begins or resumes.
struct BlendStart {
  int64_t step = 0;      // Steps completed.
  int64_t samples = 0;   // Samples used.
  int64_t position = 0;  // The position after that of the latest sample.
  // The spans of the run that wrote the checkpoint; empty if there is none.
  std::vector<BlendSpan> earlier;
};

// Returns the last span that contains positions before `position`; null if there is none.
const BlendSpan* SpanBefore(const std::vector<BlendSpan>& spans, int64_t position);

// Returns the spans of the stages. A stage begins at the position that is equal to the number of
// samples before its first step. Positions in skip ranges count, so a skip of n samples lets later
// stages begin n samples earlier. This way, skip ranges do not change the sample at any position.
// `taken` is empty.
std::vector<BlendSpan> PlannedSpans(const std::vector<BlendStage>& stages, const BatchPlan& plan,
                                    const BlendStart& start);

// Returns the spans from start.position on. The first one also contains earlier positions. It is
// that of `start.earlier` if it has the same number of sources as the stages. If its shares are not
// those of the settings, a new span begins at start.position. `taken` is filled in.
std::vector<BlendSpan> ContinuedSpans(const std::vector<BlendStage>& stages, const BatchPlan& plan,
                                      const BlendStart& start);

// The order of the samples. Immutable. Positions before the first span have no sample.
class StagedOrder {
 public:
  // Preconditions: the spans are sorted and have `taken`. Their shares meet the preconditions of
  // BlendOrder.
  explicit StagedOrder(std::vector<BlendSpan> spans);

  // Takes O(log spans) time.
  BlendOrder::Place At(int64_t position) const;

  // Returns the number of samples of `source` among the first `positions` positions.
  int64_t Count(int64_t source, int64_t positions) const;

  const std::vector<BlendSpan>& spans() const { return spans_; }
  const BlendOrder& order_of_first() const { return orders_.front(); }

 private:
  size_t SpanAt(int64_t position) const;

  std::vector<BlendSpan> spans_;
  std::vector<BlendOrder> orders_;  // By span.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_BLEND_SPANS_H_
