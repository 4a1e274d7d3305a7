// Reads typed, bounded values out of one JSON object and remembers which keys were asked for.
#ifndef TRAINYARD_TRAINER_CONFIG_CONFIG_READER_H_
#define TRAINYARD_TRAINER_CONFIG_CONFIG_READER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::trainer {

// One section of a spec. Every method throws TrainerError(kBadConfig) that names section and key.
class ConfigReader {
 public:
  // Reads `spec[section]`; a missing section reads as an empty one.
  ConfigReader(const nlohmann::json& spec, std::string section);

  bool Has(const std::string& key);
  void Read(const std::string& key, int64_t min, int64_t max, int64_t& value);
  void Read(const std::string& key, uint64_t& value);
  void Read(const std::string& key, double min, double max, double& value);
  void Read(const std::string& key, bool& value);
  void Read(const std::string& key, std::string& value);

  // Reads one of the named values.
  template <typename Enum>
  void Read(const std::string& key, const std::vector<std::pair<std::string, Enum>>& names,
            Enum& value) {
    std::vector<std::string> allowed;
    for (const auto& [name, candidate] : names) allowed.push_back(name);
    if (const std::optional<size_t> choice = Choice(key, allowed)) value = names[*choice].second;
  }

  // As Read, for a value that has no default.
  void Require(const std::string& key, int64_t min, int64_t max, int64_t& value);

  // Throws when the section holds a key that was never asked for.
  void RefuseUnknownKeys() const;

 private:
  const nlohmann::json* Find(const std::string& key);
  std::optional<size_t> Choice(const std::string& key, const std::vector<std::string>& allowed);
  [[noreturn]] void Fail(const std::string& key, const std::string& problem) const;

  std::string section_;
  nlohmann::json values_;
  std::set<std::string> known_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_CONFIG_READER_H_
