// Tables that translate the settings of another program to job settings.
#ifndef TRAINYARD_CLI_CONVERT_TRANSLATION_H_
#define TRAINYARD_CLI_CONVERT_TRANSLATION_H_

#include <map>
#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

struct Translation {
  enum class Kind {
    // Either the reader takes it from the tree, or it is left out: trainyard-trainer has no such
    // setting and needs none. Settings that were left out are named in one note.
    kSilent,
    kNoteOnly,  // Has no counterpart.
    kWhole,
    kNumber,
    kText,
    kWord,  // One of `words`.
    kSwitch,
    kNoteUnlessOff,  // Note if the value is true or above 0.
  };
  Kind kind = Kind::kSilent;
  std::string key;  // Key in the job file. If empty, only the value's kind is checked.
  std::string why;  // Text of the note, for kNoteOnly and kNoteUnlessOff.
  std::map<std::string, std::string> words;
};

Translation Silent();
Translation NoteOnly(const std::string& why);
Translation NoteUnlessOff(const std::string& why);
Translation Whole(const std::string& key);
Translation Number(const std::string& key);
Translation Text(const std::string& key);
Translation Word(const std::string& key, const std::map<std::string, std::string>& words);
// `on` and `off`: the values to set for true and false. If empty, nothing is set.
Translation Switch(const std::string& key, const std::string& on = "true",
                   const std::string& off = "false");

// Keys are paths of a SourceTree. "wandb.*" matches every path below `wandb`. If several keys
// match, the longest is used.
using Translations = std::map<std::string, Translation>;

// True for "true", "yes", "on" and "1" in any case.
bool IsTrueText(const std::string& text);

struct KeyCounts {
  size_t all = 0;
  size_t unknown = 0;
};

// Sets the job settings for the paths in the table. Adds one note for every other path. Ignores
// null values.
KeyCounts Translate(const SourceTree& tree, const Translations& table, JobDraft& draft);

// Names the values that neither the table nor the reader has taken. Called after the reader.
void NameLeftOut(const SourceTree& tree, const Translations& table, JobDraft& draft);

// Returns a note such as "training.steps: many: is not a whole number; set train.steps".
std::string NoValueNote(const std::string& path, const std::string& text, const std::string& why,
                        const std::string& key);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_TRANSLATION_H_
