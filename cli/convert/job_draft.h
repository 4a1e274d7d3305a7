// A job file under conversion: settings with the lines that gave them, and what was not understood.
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

  // Later lines and notes are of this file; `name` is in its notes unless it is empty.
  void BeginSource(const std::string& name);

  // A default of the other program, for what nobody sets.
  void Assume(const std::string& key, const std::string& value);
  // Empty values are not set.
  void Set(const std::string& key, const std::string& value);
  void SetList(const std::string& key, const std::vector<std::string>& values);
  void Erase(const std::string& key) { settings_.erase(key); }

  bool Has(const std::string& key) const { return settings_.contains(key); }
  // True when a file said it, and it is no default.
  bool IsWritten(const std::string& key) const;
  std::string Value(const std::string& key) const;  // Empty when not set.
  // Empty where the value is not set or is no whole number.
  std::optional<int64_t> Whole(const std::string& key) const;
  std::optional<double> Number(const std::string& key) const;

  // `line` 0: the whole file.
  void Note(int line, const std::string& text);

  // The job starts a program of its own, not trainyard-trainer.
  bool HasCommand() const { return Has("command"); }

  const std::map<std::string, Setting>& settings() const { return settings_; }
  std::vector<std::string> Notes() const;

  // Micro-batches in one step of a data-parallel rank; 0 when nothing says so.
  int64_t accumulation = 0;
  // The sources name no model: a job needs one, unless it runs its own program.
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

// "0.0003", the shortest text of up to 12 digits.
std::string DraftNumber(double value);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_
