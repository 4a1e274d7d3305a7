// The parameters of duplicate removal, and the presets of the command line.
#ifndef TRAINYARD_DATA_DEDUP_DEDUP_SETTINGS_H_
#define TRAINYARD_DATA_DEDUP_DEDUP_SETTINGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::data {

// Number of min-hashes in a signature. The bands may use fewer.
inline constexpr int kMinHashes = 128;

enum class ShingleKind {
  kWords,       // runs of letters and digits
  kCharacters,  // characters of the text without ASCII punctuation
  kGuideWords,  // words between spaces, hashed as datasketch does
  kWholeText,   // the normalized text; only equal texts are duplicates
};

struct DedupSettings {
  std::string preset;
  ShingleKind kind = ShingleKind::kWords;
  int shingle_length = 5;  // in words or characters
  int bands = 16;
  int rows = 8;             // min-hashes per band; bands * rows is at most kMinHashes
  bool verify = false;      // drop only documents whose similarity is at least `threshold`
  double threshold = 0.8;   // Jaccard similarity of the sets of shingles
  bool components = false;  // keep one document of each connected component; otherwise greedy
};

// Returns the settings of a preset: near, guide, fineweb, slimpajama or exact. `keep` is "greedy",
// "components", or "" for the default of the preset. Returns InvalidArgument for an unknown name,
// for a threshold outside of (0, 1], and for a threshold of a preset that does not verify.
absl::StatusOr<DedupSettings> PresetSettings(const std::string& preset,
                                             std::optional<double> threshold,
                                             const std::string& keep);

// Probability that two documents of this similarity have a band in common.
double CandidateProbability(const DedupSettings& settings, double similarity);

// Standard error of a similarity that is estimated from kMinHashes min-hashes.
double StandardError(double similarity);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DEDUP_SETTINGS_H_
