#include "cli/output/jobs/loss_curve_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

constexpr int kSpikesShown = 5;

std::string SpikesText(const v1::LossCurve& curve) {
  if (curve.spike_steps().empty()) return "none found by the loss guard";
  const int shown = std::min(curve.spike_steps_size(), kSpikesShown);
  const std::vector<int64_t> newest(curve.spike_steps().end() - shown, curve.spike_steps().end());
  return absl::StrCat(curve.spike_count(),
                      shown < curve.spike_count() ? ", the latest at steps " : ", at steps ",
                      absl::StrJoin(newest, ", "));
}

}  // namespace

std::string LossCurveText(const v1::LossCurve& curve) {
  std::string text = absl::StrCat(
      LabelLine("Loss",
                absl::StrFormat("%.4g, mean of the latest %d losses (previous mean: %.4g)",
                                curve.recent_loss(), curve.window() == 0 ? 100 : curve.window(),
                                curve.previous_loss())),
      LabelLine("Improved", absl::StrFormat("by %.2f %%", 100 * curve.improvement_rate())),
      LabelLine("Stagnant", curve.is_stagnant() ? "yes" : "no"),
      LabelLine("Spikes", SpikesText(curve)));
  if (curve.not_finite() > 0) {
    absl::StrAppend(&text, LabelLine("Not finite", absl::StrCat(curve.not_finite())));
  }
  return absl::StrCat(text, LabelLine("Advice", curve.recommendation()));
}

}  // namespace trainyard::cli
