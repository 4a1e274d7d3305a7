// The command report: the loss curve of a job, and what it says.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/job_reference.h"
#include "cli/output/loss_curve.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The most that one call returns: a run of more steps is judged by groups of its steps.
constexpr int kBuckets = 10'000;

}  // namespace

Outcome RunReport(const std::string& job, Context& context) {
  v1::GetSeriesRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(job));
  request.add_keys(telemetry::kLoss);
  request.set_buckets(kBuckets);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetSeriesResponse response,
                             context.client.GetSeries(request));
  const v1::Series none;
  const v1::Series& losses = response.series().empty() ? none : response.series(0);
  const std::optional<LossCurve> curve = AnalyseLossCurve(losses);
  if (!curve.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, " has reported ", losses.steps_size(),
                     " losses; the report needs ", 2 * kLossCurveWindow));
  }
  Console& console = context.console;
  if (IsTable(context.format)) {
    *console.out << LossCurveText(*curve);
  } else {
    PrintDocument(LossCurveDocument(*curve), job, context.format, console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
