// A job file during conversion: settings, and notes with line numbers about anything not
// understood.
#ifndef TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_
#define TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::cli {

class JobDraft {
 public:
  struct Setting {
    std::vector<std::string> values;
    bool is_list = false;
    bool is_assumed = false;
  };

  // Subsequent lines and notes belong to this file. `name` appears in its notes unless it is empty.
  void BeginSource(const std::string& name);

  // Sets a default of the other program, used if nothing sets the key.
  void Assume(const std::string& key, const std::string& value);
  // Empty values are ignored.
  void Set(const std::string& key, const std::string& value);
  void SetList(const std::string& key, const std::vector<std::string>& values);
  void Erase(const std::string& key) { settings_.erase(key); }

  bool Has(const std::string& key) const { return settings_.contains(key); }
  // True if a file set the value, not a default.
  bool IsWritten(const std::string& key) const;
  std::string Value(const std::string& key) const;  // Empty if not set.
  // nullopt if the value is not set or is not a whole number.
  std::optional<int64_t> Whole(const std::string& key) const;
  std::optional<double> Number(const std::string& key) const;

  // `line` 0 means the whole file.
  void Note(int line, const std::string& text);

  // True if the job runs its own program, not trainyard-trainer.
  bool HasCommand() const { return Has("command"); }

  const std::map<std::string, Setting>& settings() const { return settings_; }
  std::vector<std::string> Notes() const;

  // Micro-batches per step of a data-parallel rank; 0 if unknown.
  int64_t accumulation = 0;
  // The sources name no model, which a job needs unless it runs its own program.
  bool lacks_model = false;

 private:
  struct LineNote {
    int source;
    int line;
    std::string text;
  };

  std::map<std::string, Setting> settings_;
  std::vector<std::string> sources_;
  std::vector<LineNote> notes_;
};

// "0.0003", the shortest text with up to 12 digits.
std::string DraftNumber(double value);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_
