#include "controller/planner/run_cost.h"

#include <cmath>

namespace trainyard::planner {
namespace {

constexpr std::string_view kGuide = "the guide, section 9.1";
constexpr std::string_view kMarket = "mercatus-ai.com/blog/cloud-gpu-pricing";
constexpr std::string_view kCoreWeave = "kaelresearch.com/blog/gpu-economics-real-inference-costs";
constexpr std::string_view kRunPod = "deploybase.ai/articles/runpod-gpu-pricing";

// All prices are approximate. Prices with the source kGuide are undated and older than the others.
// Prices of eight-GPU nodes are divided by eight. The V100 and the A6000 have no row, because no
// dated source was found.
constexpr CloudPrice kPrices[] = {
    {"AWS", "A100", 3.97, 3.97, "undated", kGuide},
    {"AWS", "H100", 8.0, 8.0, "undated", kGuide},
    {"AWS", "A10G", 1.006, 1.006, "undated", kGuide},
    {"GCP", "A100", 3.67, 3.67, "undated", kGuide},
    {"GCP", "H100", 7.0, 7.0, "undated", kGuide},
    {"Azure", "A100", 3.40, 3.40, "undated", kGuide},
    {"Azure", "H100", 6.0, 6.0, "undated", kGuide},
    {"Lambda", "A100", 1.99, 1.99, "undated", kGuide},
    {"Lambda", "H100", 3.29, 3.29, "undated", kGuide},
    {"large clouds", "A100", 1.50, 3.00, "2026-05", kMarket},
    {"large clouds", "H100", 3.50, 5.00, "2026-05", kMarket},
    {"large clouds", "H200", 4.50, 7.00, "2026-05", kMarket},
    {"GPU clouds", "A100", 1.10, 1.50, "2026-05", kMarket},
    {"GPU clouds", "H100", 2.50, 3.50, "2026-05", kMarket},
    {"GPU clouds", "H200", 3.50, 4.50, "2026-05", kMarket},
    {"CoreWeave", "A100", 2.70, 2.70, "2026-02", kCoreWeave},
    {"CoreWeave", "H100", 6.16, 6.16, "2026-02", kCoreWeave},
    {"CoreWeave", "H200", 6.31, 6.31, "2026-02", kCoreWeave},
    {"CoreWeave", "B200", 8.60, 8.60, "2026-02", kCoreWeave},
    {"RunPod", "B200", 10.57, 10.57, "2026-03", kRunPod},
};

}  // namespace

std::span<const CloudPrice> KnownPrices() { return kPrices; }

std::vector<CloudPrice> PricesOf(std::string_view device) {
  std::vector<CloudPrice> prices;
  for (const CloudPrice& price : kPrices) {
    if (price.device == device) prices.push_back(price);
  }
  return prices;
}

double YoungInterval(double checkpoint_seconds, double mean_seconds_between) {
  return std::sqrt(2 * checkpoint_seconds * mean_seconds_between);
}

double DalyInterval(double checkpoint_seconds, double mean_seconds_between) {
  if (checkpoint_seconds >= 2 * mean_seconds_between) return mean_seconds_between;
  const double part = checkpoint_seconds / (2 * mean_seconds_between);
  return YoungInterval(checkpoint_seconds, mean_seconds_between) *
             (1 + std::sqrt(part) / 3 + part / 9) -
         checkpoint_seconds;
}

Reliability ReliabilityOf(double work_seconds, double gpus, double interval_seconds,
                          const Interruptions& interruptions) {
  Reliability result;
  const double mean = interruptions.gpu_hours_per_failure * 3600 / gpus;
  const double checkpoint = interruptions.checkpoint_seconds;
  result.mean_seconds_between = mean;
  result.interval_seconds =
      interval_seconds > 0 ? interval_seconds : DalyInterval(checkpoint, mean);
  // The expected seconds to complete one interval and its checkpoint, including the work that is
  // repeated after stops.
  const double segment = mean * std::exp(interruptions.restart_seconds / mean) *
                         std::expm1((result.interval_seconds + checkpoint) / mean);
  result.goodput = result.interval_seconds / segment;
  result.seconds = work_seconds / result.goodput;
  result.failures = result.seconds / mean;
  return result;
}

}  // namespace trainyard::planner
