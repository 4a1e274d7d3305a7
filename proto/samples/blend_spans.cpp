#include "proto/samples/blend_spans.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace trainyard {
namespace {

// Larger than any number of samples. Small enough that adding a number of samples does not
// overflow.
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;

// Fills in `taken` of all spans after the first one.
void FillTaken(std::vector<BlendSpan>& spans) {
  for (size_t i = 1; i < spans.size(); ++i) {
    const BlendSpan& before = spans[i - 1];
    const BlendOrder order(before.shares);
    spans[i].taken = before.taken;
    for (size_t source = 0; source < before.shares.size(); ++source) {
      spans[i].taken[source] +=
          order.Count(static_cast<int64_t>(source), spans[i].first - before.first);
    }
  }
}

}  // namespace

const BlendSpan* SpanBefore(const std::vector<BlendSpan>& spans, int64_t position) {
  const auto after = std::find_if(spans.rbegin(), spans.rend(), [position](const BlendSpan& span) {
    return span.first < position;
  });
  return after == spans.rend() ? nullptr : &*after;
}

// If the batch size was changed, the number of samples used differs from that of the plan. Later
// stages begin at their steps nevertheless.
std::vector<BlendSpan> PlannedSpans(const std::vector<BlendStage>& stages, const BatchPlan& plan,
                                    const BlendStart& start) {
  const int64_t offset = start.samples - plan.SamplesThrough(start.step);
  std::vector<BlendSpan> spans;
  for (const BlendStage& stage : stages) {
    const int64_t planned = std::min(plan.SamplesThrough(stage.first_step - 1), kNever);
    const int64_t first = stage.first_step == 1 ? 0 : std::max<int64_t>(planned + offset, 0);
    spans.push_back({first, stage.shares, {}});
  }
  return spans;
}

std::vector<BlendSpan> ContinuedSpans(const std::vector<BlendStage>& stages, const BatchPlan& plan,
                                      const BlendStart& start) {
  std::vector<BlendSpan> planned = PlannedSpans(stages, plan, start);
  const BlendSpan* kept = SpanBefore(start.earlier, start.position);
  if (kept == nullptr || kept->shares.size() != planned.front().shares.size()) {
    planned.front().taken.assign(planned.front().shares.size(), 0);
    FillTaken(planned);
    return planned;
  }
  std::vector<BlendSpan> spans = {*kept};
  const BlendSpan& now = *SpanBefore(planned, start.position);
  if (now.shares != kept->shares) spans.push_back({start.position, now.shares, {}});
  for (BlendSpan& span : planned) {
    if (span.first >= start.position) spans.push_back(std::move(span));
  }
  FillTaken(spans);
  return spans;
}

StagedOrder::StagedOrder(std::vector<BlendSpan> spans) : spans_(std::move(spans)) {
  for (const BlendSpan& span : spans_) orders_.emplace_back(span.shares);
}

size_t StagedOrder::SpanAt(int64_t position) const {
  const auto after =
      std::upper_bound(spans_.begin() + 1, spans_.end(), position,
                       [](int64_t number, const BlendSpan& span) { return number < span.first; });
  return static_cast<size_t>(after - spans_.begin() - 1);
}

BlendOrder::Place StagedOrder::At(int64_t position) const {
  const size_t at = SpanAt(position);
  BlendOrder::Place place = orders_[at].At(position - spans_[at].first);
  place.index += spans_[at].taken[place.source];
  return place;
}

int64_t StagedOrder::Count(int64_t source, int64_t positions) const {
  const size_t at = SpanAt(positions);
  return spans_[at].taken[source] + orders_[at].Count(source, positions - spans_[at].first);
}

}  // namespace trainyard
