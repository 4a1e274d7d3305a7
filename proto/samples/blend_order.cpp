#include "proto/samples/blend_order.h"

#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace trainyard {
namespace {

// A queue of (position, source) pairs with the smallest pair first. If positions are equal, the
// smaller source number comes first.
using Queue = std::priority_queue<std::pair<int64_t, int64_t>,
                                  std::vector<std::pair<int64_t, int64_t>>, std::greater<>>;

}  // namespace

BlendOrder::BlendOrder(std::vector<int64_t> shares) : shares_(std::move(shares)) {
  const int64_t period = std::accumulate(shares_.begin(), shares_.end(), int64_t{0});
  sources_.reserve(static_cast<size_t>(period));
  indices_.reserve(static_cast<size_t>(period));
  std::vector<int64_t> taken(shares_.size(), 0);
  Queue waiting;  // For each source: the first position allowed for its next sample.
  Queue ready;    // Deadlines of the samples that may be taken at this position.
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i] > 0) waiting.emplace(0, i);
  }
  for (int64_t position = 0; position < period; ++position) {
    for (; !waiting.empty() && waiting.top().first <= position; waiting.pop()) {
      const int64_t source = waiting.top().second, share = shares_[source];
      ready.emplace(((taken[source] + 1) * period + share - 1) / share, source);
    }
    const int64_t source = ready.top().second;
    ready.pop();
    sources_.push_back(static_cast<uint8_t>(source));
    indices_.push_back(static_cast<uint32_t>(taken[source]++));
    if (taken[source] == shares_[source]) continue;
    waiting.emplace(taken[source] * period / shares_[source], source);
  }
}

BlendOrder::Place BlendOrder::At(int64_t position) const {
  const int64_t source = sources_[position % period()];
  return {source, position / period() * shares_[source] + indices_[position % period()]};
}

int64_t BlendOrder::Count(int64_t source, int64_t positions) const {
  int64_t last = positions % period() - 1;
  while (last >= 0 && sources_[last] != source) --last;
  const int64_t inside = last < 0 ? 0 : int64_t{indices_[last]} + 1;
  return positions / period() * shares_[source] + inside;
}

int64_t BlendOrder::PositionOf(const Place& place) const {
  const int64_t share = shares_[place.source];
  int64_t inside = 0;
  while (sources_[inside] != place.source || indices_[inside] != place.index % share) ++inside;
  return place.index / share * period() + inside;
}

}  // namespace trainyard
