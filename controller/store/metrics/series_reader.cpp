#include "controller/store/metrics/series_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kStepMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kStepMin = std::numeric_limits<int64_t>::min();

// Passes the points of one series and attempt to the builder, from the chunks and the tail, in
// order of steps.
class SpanWalk {
 public:
  SpanWalk(StepRange range, int64_t attempt_number, const std::vector<SeriesPoint>& tail,
           SeriesBuilder& builder)
      : range_(range), attempt_number_(attempt_number), builder_(builder) {
    const auto begin = std::ranges::lower_bound(tail, range.first, {}, &SeriesPoint::step);
    const auto end = std::ranges::upper_bound(tail, range.last, {}, &SeriesPoint::step);
    // If the range is empty, `begin` may be after `end`.
    if (begin < end) tail_ = {begin, end};
  }

  absl::Status AddChunk(const ChunkRow& row) {
    AddTailBefore(row.summary.first_step);
    const auto end = std::ranges::upper_bound(tail_, row.summary.last_step, {}, &SeriesPoint::step);
    const auto overlap = tail_.first(static_cast<std::size_t>(end - tail_.begin()));
    tail_ = tail_.subspan(overlap.size());
    const bool whole =
        row.summary.first_step >= range_.first && row.summary.last_step <= range_.last;
    if (overlap.empty() && whole && row.has_sum &&
        builder_.InOneBucket(row.summary.first_step, row.summary.last_step)) {
      builder_.Add(row.summary, attempt_number_);
      return absl::OkStatus();
    }
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<SeriesPoint> points, ReadChunkPoints(row));
    if (!overlap.empty()) points = MergePoints(points, overlap);
    for (const SeriesPoint& point : points) {
      if (point.step >= range_.first && point.step <= range_.last)
        builder_.Add(point, attempt_number_);
    }
    return absl::OkStatus();
  }

  void AddRestOfTail() {
    for (const SeriesPoint& point : tail_) builder_.Add(point, attempt_number_);
  }

 private:
  void AddTailBefore(int64_t step) {
    while (!tail_.empty() && tail_.front().step < step) {
      builder_.Add(tail_.front(), attempt_number_);
      tail_ = tail_.subspan(1);
    }
  }

  const StepRange range_;
  const int64_t attempt_number_;
  SeriesBuilder& builder_;
  std::span<const SeriesPoint> tail_;
};

}  // namespace

absl::Status CheckSeriesQuery(const SeriesQuery& query) {
  if (query.buckets < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buckets is ", query.buckets, "; set it to 0 for every point, or to a positive number"));
  }
  if (query.to_step != 0 && query.to_step < query.from_step) {
    return absl::InvalidArgumentError(absl::StrCat("to_step ", query.to_step,
                                                   " is before from_step ", query.from_step,
                                                   "; set to_step to 0 for the newest step"));
  }
  if (!(query.smooth >= 0 && query.smooth < 1)) {
    return absl::InvalidArgumentError(
        "smooth must be at least 0 and less than 1; set it to 0 for no smoothing");
  }
  return absl::OkStatus();
}

absl::Status SeriesReader::LoadAttempts() {
  TRAINYARD_ASSIGN_OR_RETURN(attempts_, ReadAttempts(database_, query_.job_id));
  if (query_.attempt != 0) {
    std::erase_if(attempts_, [&](const AttemptSteps& a) { return a.number != query_.attempt; });
  }
  for (const AttemptSteps& attempt : attempts_) {
    PointsBySeries& tail = tails_[attempt.number];
    TRAINYARD_ASSIGN_OR_RETURN(tail, ReadTail(database_, query_.job_id, attempt.number));
    for (auto& [series_id, points] : tail) SortAndKeepNewest(points);
  }
  return absl::OkStatus();
}

const std::vector<SeriesPoint>& SeriesReader::TailOf(int64_t series_id,
                                                     int64_t attempt_number) const {
  static const std::vector<SeriesPoint> kNone;
  const PointsBySeries& tail = tails_.at(attempt_number);
  const auto points = tail.find(series_id);
  return points == tail.end() ? kNone : points->second;
}

absl::StatusOr<std::optional<StepRange>> SeriesReader::StoredRange(int64_t series_id,
                                                                   int64_t attempt_number) {
  TRAINYARD_ASSIGN_OR_RETURN(auto range, ReadChunkRange(database_, series_id, attempt_number));
  const std::vector<SeriesPoint>& tail = TailOf(series_id, attempt_number);
  if (tail.empty()) return range;
  const StepRange in_tail{tail.front().step, tail.back().step};
  if (!range.has_value()) return std::optional(in_tail);
  return std::optional(
      StepRange{std::min(range->first, in_tail.first), std::max(range->last, in_tail.last)});
}

absl::StatusOr<SeriesReader::SeriesSpans> SeriesReader::FindSpans(const std::string& key) {
  SeriesSpans found;
  TRAINYARD_ASSIGN_OR_RETURN(const auto id, FindSeriesId(database_, query_.job_id, key));
  if (!id.has_value()) return found;
  found.id = *id;
  const int64_t wanted_last = query_.to_step == 0 ? kStepMax : query_.to_step;
  int64_t limit = kStepMax;
  for (auto attempt = attempts_.rbegin(); attempt != attempts_.rend(); ++attempt) {
    TRAINYARD_ASSIGN_OR_RETURN(const auto stored, StoredRange(*id, attempt->number));
    if (stored.has_value()) {
      // The average covers the run from its beginning, even if only part of it is shown.
      const int64_t from = query_.smooth > 0 ? kStepMin : query_.from_step;
      const StepRange range{std::max(stored->first, from),
                            std::min({stored->last, limit, wanted_last})};
      if (range.first <= range.last) found.spans.push_back({attempt->number, range});
    }
    // An older attempt ends at this attempt's first step in any series. At that step, the older
    // attempt's point is kept in each series in which this attempt has no point. A resumed attempt
    // may first evaluate the checkpoint that it resumed from. This evaluation must not hide the
    // older attempt's last point in other series.
    const bool has_point = stored.has_value() && stored->first == attempt->first_step;
    if (has_point && attempt->first_step == kStepMin) break;
    limit = std::min(limit, has_point ? attempt->first_step - 1 : attempt->first_step);
  }
  std::ranges::reverse(found.spans);
  return found;
}

BucketGrid SeriesReader::GridOver(const std::vector<SeriesSpans>& all) const {
  StepRange range{kStepMax, kStepMin};
  for (const SeriesSpans& series : all) {
    for (const Span& span : series.spans) {
      if (span.range.last < query_.from_step) continue;
      range.first = std::min(range.first, std::max(span.range.first, query_.from_step));
      range.last = std::max(range.last, span.range.last);
    }
  }
  return MakeBucketGrid(range.first, range.last, query_.buckets);
}

absl::Status SeriesReader::AddSpan(int64_t series_id, const Span& span, SeriesBuilder& builder) {
  SpanWalk walk(span.range, span.attempt, TailOf(series_id, span.attempt), builder);
  TRAINYARD_RETURN_IF_ERROR(VisitChunks(database_, series_id, span.attempt, span.range,
                                        [&](const ChunkRow& row) { return walk.AddChunk(row); }));
  walk.AddRestOfTail();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Series>> SeriesReader::Read() {
  TRAINYARD_RETURN_IF_ERROR(CheckSeriesQuery(query_));
  TRAINYARD_RETURN_IF_ERROR(LoadAttempts());
  std::vector<SeriesSpans> all;
  for (const std::string& key : query_.keys) {
    TRAINYARD_ASSIGN_OR_RETURN(SeriesSpans spans, FindSpans(key));
    all.push_back(std::move(spans));
  }
  const BucketGrid grid = GridOver(all);
  std::vector<v1::Series> result(query_.keys.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    result[i].set_key(query_.keys[i]);
    SeriesBuilder builder(grid, result[i], {query_.smooth, query_.from_step});
    for (const Span& span : all[i].spans) {
      TRAINYARD_RETURN_IF_ERROR(AddSpan(all[i].id, span, builder));
    }
    builder.Finish();
  }
  return result;
}

}  // namespace trainyard::controller
