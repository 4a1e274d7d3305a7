#include "proto/rules/blend_stages.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "proto/rules/blend_weights.h"
#include "proto/rules/data_sources.h"

namespace trainyard {
namespace {

constexpr char kSetting[] = "`data.blend_stages`";
// The largest value of train.steps.
constexpr int64_t kStepMax = 1'000'000'000'000;

// Returns nullopt unless the text is a step after the first one.
std::optional<int64_t> ReadStageStep(const std::string& text) {
  int64_t step = 0;
  const char* last = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), last, step);
  const bool is_legal = error == std::errc() && stop == last && step > 1 && step <= kStepMax;
  return is_legal ? std::optional(step) : std::nullopt;
}

std::string SourceNames(const std::vector<DataSource>& sources) {
  std::string names;
  for (const DataSource& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

std::string TooFine() {
  return " repeat only after more than " + std::to_string(kBlendPeriodMax) +
         " samples; round the weights, for example to 3 decimal places, so that their sum is 1";
}

// Reads the entries of data.blend_stages. Stops at the first problem.
class StageReader {
 public:
  explicit StageReader(const std::vector<DataSource>& sources) : sources_(sources) {}

  // Returns an empty stage if there is a problem.
  BlendStage Read(const std::string& entry) {
    entry_ = entry;
    const auto [step, parts] = SplitEntry(entry);
    const std::optional<int64_t> first_step = ReadStageStep(step);
    if (!first_step.has_value() || parts.empty()) return RefuseForm();
    weights_.assign(sources_.size(), BlendWeight{});
    for (std::string rest = parts; !rest.empty(); rest = SplitEntry(rest).second) {
      if (!ReadPart(SplitEntry(rest).first)) return {};
    }
    std::vector<int64_t> shares = SharesOf(weights_);
    if (shares.empty()) return Refuse("has weights whose mixture would" + TooFine());
    return {*first_step, std::move(shares)};
  }

  const std::string& problem() const { return problem_; }

 private:
  // Reads NAME=WEIGHT.
  bool ReadPart(const std::string& part) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      RefuseForm();
      return false;
    }
    const std::string name = part.substr(0, equals);
    const auto source = std::find_if(sources_.begin(), sources_.end(),
                                     [&](const DataSource& of) { return of.name == name; });
    if (source == sources_.end()) {
      Refuse("names `" + name + "`, which is not a source of `data.blend`; the sources are " +
             SourceNames(sources_) + " (the last parts of their paths)");
      return false;
    }
    const std::optional<BlendWeight> weight = ReadWeight(part.substr(equals + 1));
    if (!weight.has_value() || weight->digits == 0) {
      Refuse("gives `" + name +
             "` a weight that is not a decimal number above 0; leave out sources that the stage "
             "does not use");
      return false;
    }
    BlendWeight& of_source = weights_[source - sources_.begin()];
    if (of_source.digits != 0) {
      Refuse("names `" + name + "` twice; keep one weight");
      return false;
    }
    of_source = *weight;
    return true;
  }

  BlendStage RefuseForm() {
    return Refuse(
        "is not of the form STEP NAME=WEIGHT NAME=WEIGHT, such as \"20000 c4=0.5 code=0.5\". The "
        "step must be a whole number above 1");
  }

  BlendStage Refuse(const std::string& what) {
    problem_ = std::string(kSetting) + " contains \"" + entry_ + "\", which " + what;
    return {};
  }

  const std::vector<DataSource>& sources_;
  std::string entry_;
  std::vector<BlendWeight> weights_;  // By source; 0 for those that are not named.
  std::string problem_;
};

int64_t PeriodsOf(const std::vector<BlendStage>& stages) {
  int64_t sum = 0;
  for (const BlendStage& stage : stages) {
    sum += std::accumulate(stage.shares.begin(), stage.shares.end(), int64_t{0});
  }
  return sum;
}

// Returns the path of a source that has the weight 0 in data.blend and in all stages; "" if there
// is none.
std::string UnusedSource(const std::vector<DataSource>& sources,
                         const std::vector<BlendStage>& stages) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto uses = [&](const BlendStage& stage) { return stage.shares[i] > 0; };
    if (std::none_of(stages.begin(), stages.end(), uses)) return sources[i].path;
  }
  return "";
}

}  // namespace

BlendStages BlendStagesOf(const DataConfig& data) {
  const std::vector<DataSource> sources = BlendOf(data).sources;
  BlendStage first;
  for (const DataSource& source : sources) first.shares.push_back(source.share);
  BlendStages read{{first}, ""};
  if (data.blend_stages.empty()) return read;
  if (data.blend.empty()) {
    return {{}, std::string(kSetting) + " needs `data.blend`, because it changes the weights"};
  }
  StageReader reader(sources);
  for (const std::string& entry : data.blend_stages) {
    BlendStage stage = reader.Read(entry);
    if (!reader.problem().empty()) return {{}, reader.problem()};
    if (stage.first_step <= read.stages.back().first_step) {
      return {{},
              std::string(kSetting) + " has step " + std::to_string(stage.first_step) +
                  " after step " + std::to_string(read.stages.back().first_step) +
                  "; sort the entries by step, with one entry per step"};
    }
    read.stages.push_back(std::move(stage));
  }
  if (PeriodsOf(read.stages) > kBlendPeriodMax) {
    return {{},
            "the mixtures of `data.blend` and " + std::string(kSetting) + " together" + TooFine()};
  }
  if (const std::string path = UnusedSource(sources, read.stages); !path.empty()) {
    return {{},
            "`data.blend` gives " + path + " the weight 0, and no entry of " + kSetting +
                " uses it; remove it from `data.blend`"};
  }
  return read;
}

}  // namespace trainyard
