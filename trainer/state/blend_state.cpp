#include "trainer/state/blend_state.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "proto/rules/blend_weights.h"
#include "proto/rules/data_sources.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Key of the shares of data.blend, by source.
constexpr char kDataShares[] = "data_shares";
// Key of the spans.
constexpr char kDataSpans[] = "data_spans";
// A resumed run has at most this many spans: that of its checkpoint, a new one, data.blend, and the
// entries of data.blend_stages.
constexpr size_t kSpansMax = 3 + 64;
constexpr size_t kSourcesMax = 64;

BlendSpan SpanFromJson(const json& span) {
  return {span.at("first").get<int64_t>(), span.at("shares").get<std::vector<int64_t>>(),
          span.at("taken").get<std::vector<int64_t>>()};
}

// Sums up the shares without overflow.
bool HasLegalShares(const std::vector<int64_t>& shares) {
  const auto is_legal = [](int64_t share) { return share >= 0 && share <= kBlendPeriodMax; };
  if (shares.empty() || shares.size() > kSourcesMax) return false;
  if (!std::all_of(shares.begin(), shares.end(), is_legal)) return false;
  const int64_t period = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  return period > 0 && period <= kBlendPeriodMax;
}

bool IsLegal(const BlendSpan& span) {
  // Small enough that the sum of two counts fits into int64_t.
  const auto is_count = [](int64_t count) {
    return count >= 0 && count <= std::numeric_limits<int64_t>::max() / 2;
  };
  return is_count(span.first) && HasLegalShares(span.shares) &&
         span.taken.size() == span.shares.size() &&
         std::all_of(span.taken.begin(), span.taken.end(), is_count);
}

void Check(const std::vector<BlendSpan>& spans) {
  const auto is_before = [](const BlendSpan& a, const BlendSpan& b) { return a.first < b.first; };
  if (spans.size() <= kSpansMax && std::all_of(spans.begin(), spans.end(), IsLegal) &&
      std::is_sorted(spans.begin(), spans.end(), is_before)) {
    return;
  }
  throw TrainerError(ExitCode::kBadCheckpoint,
                     "The checkpoint has a damaged record of its data blend. Start from another "
                     "checkpoint.");
}

}  // namespace

void AddBlend(const std::vector<BlendSpan>& spans, const DataConfig& data, json& state) {
  json shares = json::array();
  for (const DataSource& source : BlendOf(data).sources) shares.push_back(source.share);
  state[kDataShares] = std::move(shares);
  if (data.blend_stages.empty() && spans.size() < 2) return;
  json list = json::array();
  for (const BlendSpan& span : spans) {
    list.push_back({{"first", span.first}, {"shares", span.shares}, {"taken", span.taken}});
  }
  state[kDataSpans] = std::move(list);
}

std::vector<BlendSpan> BlendIn(const json& state) {
  std::vector<BlendSpan> spans;
  if (state.contains(kDataSpans)) {
    for (const json& span : state[kDataSpans]) spans.push_back(SpanFromJson(span));
  } else if (state.contains(kDataShares)) {
    const auto shares = state[kDataShares].get<std::vector<int64_t>>();
    spans.push_back({0, shares, std::vector<int64_t>(shares.size(), 0)});
  }
  Check(spans);
  return spans;
}

std::string BlendChange(const BlendStart& start, const RunConfig& config) {
  const std::vector<BlendSpan> planned =
      PlannedSpans(BlendStagesOf(config.data).stages, BatchPlan(config.train), start);
  const BlendSpan* was = SpanBefore(start.earlier, start.position);
  const BlendSpan* now = SpanBefore(planned, start.position);
  if (was == nullptr || now == nullptr || was->shares == now->shares) return "";
  const std::string change =
      "data.blend was " + json(was->shares).dump() + " and is now " + json(now->shares).dump();
  return was->shares.size() == now->shares.size()
             ? change + ". The new weights apply from step " + std::to_string(start.step + 1) +
                   ", and no sample repeats before its source is used up."
             : change + ", so the order of samples changes and some samples repeat.";
}

}  // namespace trainyard::trainer
