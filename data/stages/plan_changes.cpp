#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "data/stages/plan.h"

namespace trainyard::data {
namespace {

// Collects a few changes and counts the rest.
class Changes {
 public:
  void Add(const std::string& change) {
    if (++count_ <= kNamed) text_ += (text_.empty() ? "" : ", ") + change;
  }
  std::string Text() const {
    if (count_ <= kNamed) return text_;
    return text_ + ", and " + std::to_string(count_ - kNamed) + " more changes";
  }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr int kNamed = 3;
  std::string text_;
  int count_ = 0;
};

// Keyed by path.
nlohmann::json FilesOf(const nlohmann::json& plan) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& file : plan.at("files")) files[file.at("path").get<std::string>()] = file;
  return files;
}

// Returns up to 100 bytes of `text` from shortly before `difference`.
std::string Excerpt(const std::string& text, size_t difference) {
  constexpr size_t kContext = 20;
  constexpr size_t kBytes = 100;
  const size_t begin = difference > kContext ? difference - kContext : 0;
  const std::string start = begin > 0 ? "..." : "";
  return start + text.substr(begin, kBytes) + (text.size() - begin > kBytes ? "..." : "");
}

// `name`: keys separated by dots.
void CompareSettings(const std::string& name, const nlohmann::json& before,
                     const nlohmann::json& now, Changes* changes) {
  if (before == now) return;
  if (!before.is_object() || !now.is_object()) {
    const std::string old_text = before.dump(-1, ' ', true);
    const std::string new_text = now.dump(-1, ' ', true);
    const auto [end, ignored] =
        std::mismatch(old_text.begin(), old_text.end(), new_text.begin(), new_text.end());
    const auto difference = static_cast<size_t>(end - old_text.begin());
    changes->Add("setting " + name + " was " + Excerpt(old_text, difference) + " and is now " +
                 Excerpt(new_text, difference));
    return;
  }
  const std::string prefix = name.empty() ? "" : name + ".";
  for (const auto& [key, value] : now.items()) {
    CompareSettings(prefix + key, before.value(key, nlohmann::json()), value, changes);
  }
  for (const auto& [key, value] : before.items()) {
    if (!now.contains(key)) changes->Add("setting " + prefix + key + " is now absent");
  }
}

void CompareFiles(const nlohmann::json& before, const nlohmann::json& now, Changes* changes) {
  for (const auto& [path, file] : now.items()) {
    const auto found = before.find(path);
    if (found == before.end()) {
      changes->Add("input " + path + " is new");
    } else if (*found != file) {
      changes->Add("input " + path + " has changed");
    }
  }
  for (const auto& [path, file] : before.items()) {
    if (!now.contains(path)) changes->Add("input " + path + " is missing");
  }
}

void CompareRuns(const nlohmann::json& before, const nlohmann::json& now, Changes* changes) {
  for (const nlohmann::json& run : now) {
    if (std::find(before.begin(), before.end(), run) != before.end()) continue;
    changes->Add("the run in " + run.at("directory").get<std::string>() + " has changed");
  }
}

}  // namespace

std::string PlanChanges(const std::string& before, const std::string& now) {
  const auto old_plan = nlohmann::json::parse(before, nullptr, false);
  const auto new_plan = nlohmann::json::parse(now, nullptr, false);
  Changes changes;
  try {
    if (old_plan.at("version") != new_plan.at("version")) return "its format has changed";
    CompareSettings("", old_plan.at("settings"), new_plan.at("settings"), &changes);
    CompareSettings("working_directory", old_plan.at("working_directory"),
                    new_plan.at("working_directory"), &changes);
    CompareRuns(old_plan.at("runs"), new_plan.at("runs"), &changes);
    CompareFiles(FilesOf(old_plan), FilesOf(new_plan), &changes);
  } catch (const nlohmann::json::exception&) {
    return "its plan.json is damaged";
  }
  return changes.empty() ? "its blocks have changed" : changes.Text();
}

}  // namespace trainyard::data
