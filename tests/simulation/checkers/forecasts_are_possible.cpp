// A forecast of the starts of waiting jobs can be made in every state that a cluster reaches. It
// names only jobs that wait, and no start before the present. A broken rule of the state inside the
// forecast ends the process.
#include "absl/strings/str_cat.h"
#include "controller/core/explain/start_forecast.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// A forecast takes longer than a step, so that only some steps are checked.
constexpr int kStepsBetweenForecasts = 97;

class ForecastsArePossibleChecker : public Checker {
 public:
  const char* Name() const override { return "forecasts are possible"; }

  std::string Check(const Step& step) override {
    if (++steps_ % kStepsBetweenForecasts != 0) return "";
    auto input = CopyForForecast(step.view);
    if (!input.has_value()) return "";
    for (const auto& [job_id, start] : ForecastStarts(*std::move(input), {.passes = 100})) {
      const controller::JobEntry* entry = FindEntry(step.state, job_id);
      if (entry == nullptr || step.state.live_jobs.contains(job_id)) {
        return absl::StrCat("the forecast starts job ", job_id, ", which does not wait");
      }
      if (start.time < step.view.now) {
        return absl::StrCat("the forecast starts job ", job_id, " ", step.view.now - start.time,
                            " ms ago");
      }
    }
    return "";
  }

 private:
  int64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Checker> ForecastsArePossible() {
  return std::make_unique<ForecastsArePossibleChecker>();
}

}  // namespace trainyard::simulation
