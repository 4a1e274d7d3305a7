#include "trainer/config/config_reader.h"

#include <cmath>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

using nlohmann::json;

ConfigReader::ConfigReader(const json& spec, std::string section)
    : section_(std::move(section)), values_(json::object()) {
  const auto found = spec.find(section_);
  if (found == spec.end()) return;
  if (!found->is_object()) {
    throw TrainerError(ExitCode::kBadConfig, "`" + section_ + "` must be a map of settings.");
  }
  values_ = *found;
}

bool ConfigReader::Has(const std::string& key) { return Find(key) != nullptr; }

void ConfigReader::Read(const std::string& key, int64_t min, int64_t max, int64_t& value) {
  const json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_number_integer()) Fail(key, "must be a whole number");
  const bool too_large = found->is_number_unsigned() && found->get<uint64_t>() > INT64_MAX;
  if (too_large || found->get<int64_t>() < min || found->get<int64_t>() > max) {
    Fail(key, "must be from " + std::to_string(min) + " to " + std::to_string(max));
  }
  value = found->get<int64_t>();
}

void ConfigReader::Read(const std::string& key, uint64_t& value) {
  const json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_number_unsigned()) Fail(key, "must be a whole number of at least 0");
  value = found->get<uint64_t>();
}

void ConfigReader::Read(const std::string& key, double min, double max, double& value) {
  const json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_number()) Fail(key, "must be a number");
  const double number = found->get<double>();
  if (!(number >= min && number <= max)) {
    Fail(key, "must be from " + json(min).dump() + " to " + json(max).dump());
  }
  value = number;
}

void ConfigReader::Read(const std::string& key, bool& value) {
  const json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_boolean()) Fail(key, "must be true or false");
  value = found->get<bool>();
}

void ConfigReader::Read(const std::string& key, std::string& value) {
  const json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string()) Fail(key, "must be text");
  value = found->get<std::string>();
}

void ConfigReader::Require(const std::string& key, int64_t min, int64_t max, int64_t& value) {
  if (!Has(key)) Fail(key, "is missing; it has no default");
  Read(key, min, max, value);
}

void ConfigReader::RefuseUnknownKeys() const {
  for (const auto& [key, value] : values_.items()) {
    if (!known_.contains(key)) Fail(key, "is not a setting of this trainer; take it out");
  }
}

const json* ConfigReader::Find(const std::string& key) {
  known_.insert(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &*found;
}

std::optional<size_t> ConfigReader::Choice(const std::string& key,
                                           const std::vector<std::string>& allowed) {
  const json* found = Find(key);
  if (found == nullptr) return std::nullopt;
  std::string list;
  for (size_t i = 0; i < allowed.size(); ++i) {
    if (found->is_string() && found->get<std::string>() == allowed[i]) return i;
    list += (i == 0 ? "" : ", ") + allowed[i];
  }
  Fail(key, "must be one of: " + list);
}

void ConfigReader::Fail(const std::string& key, const std::string& problem) const {
  std::string given;
  if (const auto found = values_.find(key); found != values_.end()) {
    given = " (it is " + found->dump() + ")";
  }
  throw TrainerError(ExitCode::kBadConfig, section_ + "." + key + " " + problem + given + ".");
}

}  // namespace trainyard::trainer
