// Tables by which the settings of another program are translated.
#ifndef TRAINYARD_CLI_CONVERT_TRANSLATION_H_
#define TRAINYARD_CLI_CONVERT_TRANSLATION_H_

#include <map>
#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

struct Translation {
  enum class Kind {
    kSilent,    // No note: trainyard-trainer always does it, or the reader handles it.
    kNoteOnly,  // Has no counterpart.
    kWhole,
    kNumber,
    kText,
    kWord,  // One of `words`.
    kSwitch,
    kNoteUnlessOff,  // Note if the value is true or above 0.
  };
  Kind kind = Kind::kSilent;
  std::string key;  // Key in the job file; if empty, only the kind of the value is checked.
  std::string why;  // Reason, for kNoteOnly and kNoteUnlessOff.
  std::map<std::string, std::string> words;
};

Translation Silent();
Translation NoteOnly(const std::string& why);
Translation NoteUnlessOff(const std::string& why);
Translation Whole(const std::string& key);
Translation Number(const std::string& key);
Translation Text(const std::string& key);
Translation Word(const std::string& key, const std::map<std::string, std::string>& words);
// `on` and `off`: the values to set for true and for false; empty: set none.
Translation Switch(const std::string& key, const std::string& on = "true",
                   const std::string& off = "false");

// Keys are paths of a SourceTree. "wandb.*" matches every path below `wandb`. The longest match is
// used.
using Translations = std::map<std::string, Translation>;

// Sets the settings that are in the table. Adds a note about every other path, once each. Null
// values are ignored.
void Translate(const SourceTree& tree, const Translations& table, JobDraft& draft);

// Returns a text such as "training.steps: many: is not a whole number; set train.steps".
std::string NoValueNote(const std::string& path, const std::string& text, const std::string& why,
                        const std::string& key);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_TRANSLATION_H_
