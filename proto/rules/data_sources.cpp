#include "proto/rules/data_sources.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "proto/rules/blend_weights.h"

namespace trainyard {
namespace {

constexpr char kBlanks[] = " \t";
constexpr size_t kNameCharactersMax = 32;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the last part of the path in lower case, with "_" for every character that is not a
// letter or digit.
std::string NameOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string name = path.substr(path.rfind('/') + 1).substr(0, kNameCharactersMax);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 128 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name.empty() ? "data" : name;
}

// Returns the name of the source at `path`. Appends a number if another source already has that
// name.
std::string UniqueName(const std::string& path, std::set<std::string>& taken) {
  const std::string name = NameOf(path);
  std::string unique = name;
  for (int number = 2; !taken.insert(unique).second; ++number) {
    unique = name + "_" + std::to_string(number);
  }
  return unique;
}

bool IsSetName(const std::string& name) {
  const auto is_legal = [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_'; };
  return !name.empty() && name.size() <= kNameCharactersMax && !IsDigit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_legal);
}

}  // namespace

std::pair<std::string, std::string> SplitEntry(const std::string& entry) {
  const size_t end = std::min(entry.find_first_of(kBlanks), entry.size());
  const size_t rest = std::min(entry.find_first_not_of(kBlanks, end), entry.size());
  return {entry.substr(0, end), entry.substr(rest)};
}

DataBlend BlendOf(const DataConfig& data) {
  if (data.blend.empty()) return {{{NameOf(data.path), data.path, 1}}, ""};
  DataBlend blend;
  std::vector<BlendWeight> weights;
  std::set<std::string> taken;
  bool has_weight = false;
  for (const std::string& entry : data.blend) {
    const auto [weight, path] = SplitEntry(entry);
    const std::optional<BlendWeight> number = ReadWeight(weight);
    const bool is_weight = number.has_value() && (number->digits > 0 || !data.blend_stages.empty());
    if (!is_weight || path.empty()) {
      return {
          {},
          "`data.blend` contains \"" + entry +
              "\"; write each entry as WEIGHT PATH, such as \"0.7 /data/c4\". The weight must be "
              "above 0, or 0 for a source that only `data.blend_stages` uses"};
    }
    has_weight = has_weight || number->digits > 0;
    weights.push_back(*number);
    blend.sources.push_back({UniqueName(path, taken), path, 1});
  }
  if (!has_weight) {
    return {{},
            "`data.blend` gives every source the weight 0; the weights of the first step must "
            "include one above 0"};
  }
  const std::vector<int64_t> shares = SharesOf(weights);
  if (shares.empty()) {
    return {
        {},
        "`data.blend` has weights whose mixture repeats only after more than " +
            std::to_string(kBlendPeriodMax) +
            " samples; round the weights, for example to 6 decimal places, so that their sum is 1"};
  }
  for (size_t i = 0; i < shares.size(); ++i) blend.sources[i].share = shares[i];
  return blend;
}

EvaluationSets EvaluationSetsOf(const EvaluationConfig& evaluation) {
  EvaluationSets read;
  std::set<std::string> taken;
  for (const std::string& entry : evaluation.sets) {
    const auto [name, path] = SplitEntry(entry);
    if (!IsSetName(name) || path.empty()) {
      return {
          {},
          "`evaluation.sets` contains \"" + entry +
              "\"; write each entry as NAME PATH, such as \"code /data/code\". A name has at most "
              "32 of the characters a-z, 0-9 and _, and does not begin with a digit"};
    }
    if (!taken.insert(name).second) {
      return {{}, "`evaluation.sets` names `" + name + "` twice; give each set its own name"};
    }
    read.sets.push_back({name, path});
  }
  return read;
}

}  // namespace trainyard
