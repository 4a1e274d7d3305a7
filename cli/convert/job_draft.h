// A job file during conversion: its settings, and notes about source settings that the reader did
// not understand. The notes have line numbers.
#ifndef TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_
#define TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

class JobDraft {
 public:
  struct Setting {
    std::vector<std::string> values;
    bool is_list = false;
    bool is_assumed = false;
    int source = -1;  // Index of the source file that set the value.
    // Explains the value, for example "line 12: --lr" or "default of Megatron-LM".
    std::string origin;
  };

  // Starts a source file. All later lines and notes belong to this file. If `name` is not empty,
  // each note includes the name.
  void BeginSource(const std::string& name);

  // Names the part of the source from which the following settings are taken, such as line 12 and
  // "--lr". `line`: 0 for no line. With an empty `part`, the settings follow from other settings.
  void At(int line, const std::string& part);
  // The following settings are taken from the values that are read from this tree. nullptr: no
  // tree.
  void FollowReads(const SourceTree* tree);

  // Sets a default of the other program. A value from a file overrides the default.
  void Assume(const std::string& key, const std::string& value);
  // Sets a value. Does nothing if the value is empty. If an earlier source file set another value,
  // adds a note with the value that the job gets.
  void Set(const std::string& key, const std::string& value);
  void SetList(const std::string& key, const std::vector<std::string>& values);
  void Erase(const std::string& key) { settings_.erase(key); }
  // Removes a setting that has no effect. If a file set it, names it as LeaveOut does.
  void EraseUnused(const std::string& key, const std::string& name, const std::string& reason);

  bool Has(const std::string& key) const { return settings_.contains(key); }
  // True if a file set the value; false if the value is a default or missing.
  bool IsWritten(const std::string& key) const;
  std::string Value(const std::string& key) const;  // Empty if not set.
  // Returns nullopt if the value is not set or is not a whole number.
  std::optional<int64_t> Whole(const std::string& key) const;
  std::optional<double> Number(const std::string& key) const;

  // Adds a note. `line`: 0 for the whole file.
  void Note(int line, const std::string& text);
  // Sets the format of the current source. Its note comes first.
  void SetFormat(const std::string& name, const std::string& reason);
  // Names a setting of the source that the job leaves out. Settings with the same reason share one
  // note, "left out, because `reason`: `name`, ...".
  void LeaveOut(const std::string& name, const std::string& reason);
  // Adds a reason why the sources cannot be converted.
  void Refuse(int line, const std::string& text);
  const std::vector<std::string>& refusals() const { return refusals_; }

  // True if the job runs its own program instead of trainyard-trainer.
  bool HasCommand() const { return Has("command"); }

  const std::map<std::string, Setting>& settings() const { return settings_; }
  std::vector<std::string> Notes() const;

  // Micro-batches per data-parallel rank and step; 0 if unknown.
  int64_t accumulation = 0;
  // True if the sources name no model. Such a job must run its own program.
  bool lacks_model = false;

 private:
  struct LineNote {
    int source;
    int line;
    std::string text;
  };

  int source() const { return static_cast<int>(sources_.size()) - 1; }
  // Returns the origin of a setting that is set now.
  std::string Origin() const;
  std::string SourceName(int source) const;
  void Put(const std::string& key, Setting setting);

  std::map<std::string, Setting> settings_;
  std::vector<std::string> sources_;
  std::vector<LineNote> notes_;
  // The names that were left out, by source and reason.
  std::map<std::pair<int, std::string>, std::vector<std::string>> left_out_;
  std::vector<LineNote> formats_;
  std::vector<std::string> refusals_;
  int part_line_ = 0;
  std::string part_;
  const SourceTree* reads_ = nullptr;
  std::string program_;  // Name of the program for which the current source was written.
};

// The reason for which the maximum number of positions is left out.
inline constexpr char kNoPositionLimit[] = "only learned positions have a limit";

// Returns the shortest decimal text for the value, with at most 12 significant digits, such as
// "0.0003".
std::string DraftNumber(double value);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_DRAFT_H_
