#include "data/dedup/dedup_settings.h"

#include <cmath>

namespace trainyard::data {
namespace {

std::optional<DedupSettings> FindPreset(const std::string& name) {
  DedupSettings settings;
  settings.preset = name;
  if (name == "near") {
    settings.verify = true;
  } else if (name == "guide") {
    settings.kind = ShingleKind::kGuideWords;
    settings.shingle_length = 13;
    settings.bands = 9;  // what datasketch chooses for 128 permutations and a threshold of 0.8
    settings.rows = 13;
  } else if (name == "fineweb") {
    settings.bands = 14;
    settings.components = true;
  } else if (name == "slimpajama") {
    settings.kind = ShingleKind::kCharacters;
    settings.shingle_length = 13;
    settings.bands = 9;
    settings.rows = 13;
    settings.components = true;
  } else if (name == "exact") {
    settings.kind = ShingleKind::kWholeText;
    settings.bands = 1;
    settings.rows = 1;
  } else {
    return std::nullopt;
  }
  return settings;
}

}  // namespace

absl::StatusOr<DedupSettings> PresetSettings(const std::string& preset,
                                             std::optional<double> threshold,
                                             const std::string& keep) {
  std::optional<DedupSettings> settings = FindPreset(preset);
  if (!settings) {
    return absl::InvalidArgumentError("unknown preset " + preset +
                                      "; use near, guide, fineweb, slimpajama or exact");
  }
  if (threshold) {
    if (!settings->verify) {
      return absl::InvalidArgumentError("preset " + preset +
                                        " has no threshold, because it does not verify its "
                                        "candidates; omit --threshold, or use --preset near");
    }
    if (!(*threshold > 0 && *threshold <= 1)) {
      return absl::InvalidArgumentError("the threshold must be above 0 and at most 1");
    }
    settings->threshold = *threshold;
  }
  if (!keep.empty() && keep != "greedy" && keep != "components") {
    return absl::InvalidArgumentError("unknown rule " + keep + "; use greedy or components");
  }
  if (!keep.empty()) settings->components = keep == "components";
  return *settings;
}

double CandidateProbability(const DedupSettings& settings, double similarity) {
  if (settings.kind == ShingleKind::kWholeText) return similarity >= 1 ? 1 : 0;
  return 1 - std::pow(1 - std::pow(similarity, settings.rows), settings.bands);
}

double StandardError(double similarity) {
  return std::sqrt(similarity * (1 - similarity) / kMinHashes);
}

}  // namespace trainyard::data
