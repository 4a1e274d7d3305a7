#include "controller/api/records/series.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/jobs/job_view.h"
#include "controller/api/jobs/named_job.h"
#include "controller/api/records/limits.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxBuckets = 10'000;
constexpr std::size_t kMaxKeyBytes = 256;
// The number of points of the map from steps to tokens. The map is linear between two points.
constexpr int kAxisBuckets = 10'000;
constexpr int kMaxComparedJobs = 64;
constexpr int kDefaultComparedBuckets = 1'000;
constexpr int64_t kMaxComparedPoints = 500'000;

absl::Status CheckSeriesRequest(const v1::GetSeriesRequest& request) {
  if (request.keys_size() > kMaxSeriesKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("keys: at most ", kMaxSeriesKeys, " in one call"));
  }
  if (request.buckets() < 0 || request.buckets() > kMaxBuckets) {
    return absl::InvalidArgumentError(absl::StrCat("buckets: must be from 0 to ", kMaxBuckets));
  }
  if (request.from_step() < 0 || request.to_step() < 0 || request.attempt() < 0) {
    return absl::InvalidArgumentError("from_step, to_step and attempt must not be negative");
  }
  if (request.from() < 0 || request.to() < 0) {
    return absl::InvalidArgumentError("from and to must not be negative");
  }
  if (request.to() != 0 && request.to() < request.from()) {
    return absl::InvalidArgumentError(
        "`to` is before `from`; to get the newest values, set `to` to 0");
  }
  if (!(request.smooth() >= 0 && request.smooth() < 1)) {
    return absl::InvalidArgumentError("smooth: must be at least 0 and less than 1");
  }
  if (request.redone() && request.attempt() != 0) {
    return absl::InvalidArgumentError(
        "attempt: cannot be combined with attempts=all (`redone` in gRPC); set only one of "
        "them");
  }
  for (const std::string& key : request.keys()) {
    if (key.empty() || key.size() > kMaxKeyBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("keys: each key must have 1 to ", kMaxKeyBytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

// Maps steps to values of the axis, and values of the axis to steps. Both columns are ascending.
class AxisMap {
 public:
  AxisMap(v1::SeriesAxis axis, double tokens_per_step)
      : axis_(axis), tokens_per_step_(tokens_per_step) {}

  // Adds points to the map. For the token axis, the value `last` of the series is the number of
  // tokens so far. For the time axis, the times of the series are used.
  void Learn(const v1::Series& series) {
    for (int i = 0; i < series.steps_size(); ++i) {
      const double x =
          axis_ == v1::SERIES_AXIS_TIME ? static_cast<double>(series.times_ms(i)) : series.last(i);
      if (!std::isfinite(x) || (!xs_.empty() && x < xs_.back())) continue;
      steps_.push_back(static_cast<double>(series.steps(i)));
      xs_.push_back(x);
    }
  }

  int64_t ToAxis(int64_t step, int64_t time_ms) const {
    if (axis_ == v1::SERIES_AXIS_TIME) return time_ms;
    if (axis_ != v1::SERIES_AXIS_TOKENS) return step;
    const auto at = static_cast<double>(step);
    return std::llround(xs_.empty() ? at * tokens_per_step_ : Between(steps_, xs_, at));
  }

  double ToStep(int64_t x) const {
    const auto at = static_cast<double>(x);
    if (axis_ != v1::SERIES_AXIS_TIME && axis_ != v1::SERIES_AXIS_TOKENS) return at;
    if (xs_.empty()) return tokens_per_step_ > 0 ? at / tokens_per_step_ : at;
    return Between(xs_, steps_, at);
  }

 private:
  // Interpolates linearly between adjacent points. Outside the known range, tokens are extrapolated
  // in proportion to steps, and times are clamped.
  double Between(const std::vector<double>& from, const std::vector<double>& to, double at) const {
    const auto after = std::upper_bound(from.begin(), from.end(), at);
    if (after == from.begin()) {
      return axis_ == v1::SERIES_AXIS_TOKENS && from.front() > 0 ? to.front() * at / from.front()
                                                                 : to.front();
    }
    if (after == from.end()) {
      return axis_ == v1::SERIES_AXIS_TOKENS && from.back() > 0 ? to.back() * at / from.back()
                                                                : to.back();
    }
    const auto i = static_cast<std::size_t>(after - from.begin());
    const double part = (at - from[i - 1]) / (from[i] - from[i - 1]);
    return to[i - 1] + part * (to[i] - to[i - 1]);
  }

  const v1::SeriesAxis axis_;
  const double tokens_per_step_;
  std::vector<double> steps_;
  std::vector<double> xs_;
};

double TokensPerStep(const v1::JobSpec& spec) {
  return static_cast<double>(spec.train().global_batch()) *
         static_cast<double>(spec.train().seq_length());
}

// Answers one request on a reader thread.
class SeriesAnswer {
 public:
  SeriesAnswer(const Api& api, const v1::GetSeriesRequest& request, const v1::Job& job)
      : api_(api), request_(request), job_(job), axis_(request.axis(), TokensPerStep(job.spec())) {}

  absl::StatusOr<v1::GetSeriesResponse> Make() {
    TRAINYARD_RETURN_IF_ERROR(LearnAxis());
    SeriesQuery query{.job_id = job_.id(),
                      .keys = {request_.keys().begin(), request_.keys().end()},
                      .from_step = request_.from_step(),
                      .to_step = request_.to_step(),
                      .buckets = request_.buckets(),
                      .attempt = request_.attempt(),
                      .smooth = request_.smooth()};
    if (request_.from() > 0) {
      query.from_step = static_cast<int64_t>(std::floor(axis_.ToStep(request_.from())));
    }
    if (request_.to() > 0) {
      const auto to = static_cast<int64_t>(std::ceil(axis_.ToStep(request_.to())));
      query.to_step = std::max<int64_t>({to, query.from_step, 1});
    }
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::Series> merged, api_.metrics.Read(query));
    TRAINYARD_ASSIGN_OR_RETURN(attempts_, api_.metrics.Attempts(job_.id()));
    for (std::size_t i = 0; i < merged.size(); ++i) {
      Add(std::move(merged[i]));
      if (request_.redone()) TRAINYARD_RETURN_IF_ERROR(AddRedone(query.keys[i], query));
    }
    AddAttempts();
    response_.set_axis(request_.axis() == v1::SERIES_AXIS_UNSPECIFIED ? v1::SERIES_AXIS_STEP
                                                                      : request_.axis());
    if (response_.ByteSizeLong() <= kMaxMessageBytes) return std::move(response_);
    return absl::ResourceExhaustedError(
        "the points do not fit into one message; request fewer steps or keys, or set buckets");
  }

 private:
  absl::Status LearnAxis() {
    const bool tokens = request_.axis() == v1::SERIES_AXIS_TOKENS;
    const bool time = request_.axis() == v1::SERIES_AXIS_TIME;
    const bool has_range = request_.from() > 0 || request_.to() > 0;
    if (!tokens && !(time && has_range)) return absl::OkStatus();
    SeriesQuery query{.job_id = job_.id(), .keys = {telemetry::kTokens}, .buckets = kAxisBuckets};
    if (time && request_.keys_size() > 0) query.keys = {request_.keys(0)};
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> series, api_.metrics.Read(query));
    axis_.Learn(series.front());
    return absl::OkStatus();
  }

  void Add(v1::Series series) {
    for (int i = 0; i < series.steps_size(); ++i) {
      series.add_x(axis_.ToAxis(series.steps(i), series.times_ms(i)));
    }
    series.set_job_id(job_.id());
    *response_.add_series() = std::move(series);
  }

  // Adds the redone part of each attempt's series: the steps after the step from which the next
  // attempt continued.
  absl::Status AddRedone(const std::string& key, const SeriesQuery& merged) {
    int64_t taken_over = std::numeric_limits<int64_t>::max();
    std::vector<v1::Series> parts;
    for (std::size_t i = attempts_.size(); i-- > 0;) {
      const StepRange steps = attempts_[i].steps;
      if (taken_over <= steps.last) {
        SeriesQuery query = merged;
        query.keys = {key};
        query.attempt = attempts_[i].number;
        query.from_step = std::max({merged.from_step, taken_over - 1, steps.first});
        if (query.to_step == 0 || query.to_step >= query.from_step) {
          TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::Series> read, api_.metrics.Read(query));
          read.front().set_redone(true);
          read.front().set_attempt(attempts_[i].number);
          if (read.front().steps_size() > 0) parts.push_back(std::move(read.front()));
        }
      }
      taken_over = std::min(taken_over, steps.first);
    }
    std::ranges::reverse(parts);
    for (v1::Series& part : parts) Add(std::move(part));
    return absl::OkStatus();
  }

  void AddAttempts() {
    for (const AttemptRange& attempt : attempts_) {
      v1::SeriesAttempt& added = *response_.add_attempts();
      added.set_number(attempt.number);
      added.set_first_step(attempt.steps.first);
      added.set_last_step(attempt.steps.last);
      const auto known = std::find_if(job_.attempts().begin(), job_.attempts().end(),
                                      [&](const auto& a) { return a.number() == attempt.number; });
      const bool found = known != job_.attempts().end();
      added.set_first_x(axis_.ToAxis(attempt.steps.first, found ? known->started_time_ms() : 0));
      added.set_last_x(axis_.ToAxis(attempt.steps.last, found ? known->ended_time_ms() : 0));
    }
  }

  const Api& api_;
  const v1::GetSeriesRequest& request_;
  const v1::Job& job_;
  AxisMap axis_;
  std::vector<AttemptRange> attempts_;
  v1::GetSeriesResponse response_;
};

// Returns the job with only the fields that its series need, for use on a reader thread. Call on
// the loop thread.
v1::Job JobOfSeries(const JobEntry& entry, const ClusterView& view) {
  v1::Job job = ListedJob(entry, view);
  *job.mutable_attempts() = entry.job.attempts();
  for (v1::Attempt& attempt : *job.mutable_attempts()) attempt.clear_ranks();
  return job;
}

// Returns the request that is applied to each of the compared jobs.
v1::GetSeriesRequest RequestOfEach(const v1::CompareSeriesRequest& request) {
  v1::GetSeriesRequest each;
  *each.mutable_keys() = request.keys();
  each.set_axis(request.axis());
  each.set_from(request.from());
  each.set_to(request.to());
  each.set_buckets(request.buckets() == 0 ? kDefaultComparedBuckets : request.buckets());
  each.set_smooth(request.smooth());
  return each;
}

absl::Status CheckCompareRequest(const v1::CompareSeriesRequest& request) {
  if (request.jobs_size() > kMaxComparedJobs) {
    return absl::InvalidArgumentError(
        absl::StrCat("jobs: at most ", kMaxComparedJobs, " in one call"));
  }
  const v1::GetSeriesRequest each = RequestOfEach(request);
  TRAINYARD_RETURN_IF_ERROR(CheckSeriesRequest(each));
  const int64_t points = int64_t{request.jobs_size()} * request.keys_size() * each.buckets();
  if (points <= kMaxComparedPoints) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("too many points: jobs x keys x buckets is ",
                                                 points, ", but at most ", kMaxComparedPoints,
                                                 " are allowed; request fewer buckets"));
}

// Adds the series of every job in `response`. Call on a reader thread.
absl::Status AddSeriesOfEach(const Api& api, const v1::GetSeriesRequest& each,
                             v1::CompareSeriesResponse& response) {
  for (const v1::Job& job : response.jobs()) {
    TRAINYARD_ASSIGN_OR_RETURN(v1::GetSeriesResponse answer, SeriesAnswer(api, each, job).Make());
    for (v1::Series& series : *answer.mutable_series()) {
      *response.add_series() = std::move(series);
    }
  }
  return absl::OkStatus();
}

// Returns the requested jobs that are in the state, each once. Call on the loop thread.
v1::CompareSeriesResponse JobsToCompare(const v1::CompareSeriesRequest& request,
                                        const ClusterView& view) {
  v1::CompareSeriesResponse response;
  std::set<int64_t> added;
  for (const std::string& reference : request.jobs()) {
    const auto entry = FindNamedJob(view, reference);
    if (!entry.ok()) {
      response.add_missing(reference);
    } else if (added.insert((*entry)->job.id()).second) {
      *response.add_jobs() = ListedJob(**entry, view);
    }
  }
  response.set_revision(view.revision);
  response.set_as_of_ms(view.now);
  return response;
}

// Adds the requested jobs that are not in the state but in the archive. Call on a reader thread.
absl::Status AddArchivedJobs(const Api& api, int64_t newest_job_id,
                             v1::CompareSeriesResponse& response) {
  std::vector<std::string> missing(response.missing().begin(), response.missing().end());
  response.clear_missing();
  std::set<int64_t> added;
  for (const v1::Job& job : response.jobs()) added.insert(job.id());
  for (const std::string& reference : missing) {
    TRAINYARD_ASSIGN_OR_RETURN(auto found,
                               FindArchived(api.events.archive(), reference, newest_job_id));
    if (!found.has_value()) {
      response.add_missing(reference);
    } else if (added.insert(found->job().id()).second) {
      TrimForList(*found->mutable_job());
      *response.add_jobs() = std::move(*found->mutable_job());
    }
  }
  return absl::OkStatus();
}

}  // namespace

void handlers::CompareSeries(const Api& api, const Principal& /*principal*/,
                             v1::CompareSeriesRequest request,
                             Reply<v1::CompareSeriesResponse> reply) {
  if (const absl::Status status = CheckCompareRequest(request); !status.ok()) return reply(status);
  api.loop.Read(
      [&api, request = std::move(request), reply = std::move(reply)](const ClusterView& view) {
        auto response = std::make_shared<v1::CompareSeriesResponse>(JobsToCompare(request, view));
        const bool queued = api.readers.TryPost([&api, each = RequestOfEach(request), response,
                                                 reply, newest = view.state.newest_job_id] {
          absl::Status status = AddArchivedJobs(api, newest, *response);
          if (status.ok()) status = AddSeriesOfEach(api, each, *response);
          if (!status.ok()) return reply(status);
          reply(std::move(*response));
        });
        if (!queued) reply(ReaderPool::Busy());
      });
}

void handlers::GetSeries(const Api& api, const Principal& /*principal*/,
                         v1::GetSeriesRequest request, Reply<v1::GetSeriesResponse> reply) {
  if (const absl::Status status = CheckSeriesRequest(request); !status.ok()) return reply(status);
  const std::string name = request.job();
  ReadJob(api, name,
          [&api, request = std::move(request), reply = std::move(reply)](const auto& entry,
                                                                         const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            const auto job = std::make_shared<v1::Job>(JobOfSeries(**entry, view));
            const bool queued = api.readers.TryPost(
                [&api, request, reply, job, now = view.now, revision = view.revision] {
                  auto response = SeriesAnswer(api, request, *job).Make();
                  if (response.ok()) {
                    response->set_revision(revision);
                    response->set_as_of_ms(now);
                  }
                  reply(std::move(response));
                });
            if (!queued) reply(ReaderPool::Busy());
          });
}

void handlers::ListKeys(const Api& api, const Principal& /*principal*/, v1::ListKeysRequest request,
                        Reply<v1::ListKeysResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView&) {
            if (!entry.ok()) return reply(entry.status());
            const bool queued = api.readers.TryPost([&api, reply, job_id = (*entry)->job.id()] {
              auto keys = api.metrics.Keys(job_id);
              if (!keys.ok()) return reply(keys.status());
              v1::ListKeysResponse response;
              for (std::string& key : *keys) response.add_keys(std::move(key));
              reply(std::move(response));
            });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
