#include "controller/api/context/start_forecaster.h"

#include <time.h>

#include <memory>
#include <optional>
#include <utility>

namespace trainyard::controller {
namespace {

constexpr Timestamp kNoTime = 0;

// Returns the processor time of this thread. It does not grow while other threads run.
double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

bool StartForecaster::IsFresh(const ClusterView& view) const {
  // The age is negative after the clock was set back.
  const int64_t age_ms = view.now - made_at_;
  const int64_t limit_ms = view.revision == revision_ ? kReusedUnchangedMs : kReusedMs;
  return made_at_ != kNoTime && age_ms >= 0 && age_ms < limit_ms;
}

void StartForecaster::Ask(const ClusterView& view, Use use) {
  if (view.state.pending_jobs.empty() && view.state.dependent_jobs.empty()) return use({});
  if (IsFresh(view)) return use(starts_);
  if (waiting_.size() >= kMostWaiting) return use({});
  waiting_.push_back(std::move(use));
  if (busy_) return;
  auto input = CopyForForecast(view);
  if (!input.has_value()) return Finish({}, kNoTime, 0);
  // std::function must be copyable.
  const auto shared = std::make_shared<ForecastInput>(*std::move(input));
  busy_ = readers_.TryPost(
      [this, shared, revision = view.revision] { Make(std::move(*shared), revision); });
  if (!busy_) Finish({}, kNoTime, 0);
}

void StartForecaster::Make(ForecastInput input, uint64_t revision) {
  const Timestamp made_at = input.now;
  const double begin = ThreadCpuSeconds();
  ForecastLimits limits;
  limits.is_over = [begin] { return ThreadCpuSeconds() - begin > kCpuSeconds; };
  ForecastedStarts starts = ForecastStarts(std::move(input), limits);
  loop_.Read([this, starts = std::move(starts), made_at, revision](const ClusterView&) {
    busy_ = false;
    Finish(starts, made_at, revision);
  });
}

void StartForecaster::Finish(ForecastedStarts starts, Timestamp made_at, uint64_t revision) {
  starts_ = std::move(starts);
  made_at_ = made_at;
  revision_ = revision;
  for (const Use& use : std::exchange(waiting_, {})) use(starts_);
}

}  // namespace trainyard::controller
