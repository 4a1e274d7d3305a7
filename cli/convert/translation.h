// Tables that translate the settings of another program.
#ifndef TRAINYARD_CLI_CONVERT_TRANSLATION_H_
#define TRAINYARD_CLI_CONVERT_TRANSLATION_H_

#include <map>
#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

struct Translation {
  enum class Kind {
    kSilent,    // Needs no note: trainyard-trainer always does it, or the reader handles it itself.
    kNoteOnly,  // Has no counterpart.
    kWhole,
    kNumber,
    kText,
    kWord,  // One of `words`.
    kSwitch,
    kNoteUnlessOff,  // A value of true, or above 0, has no counterpart.
  };
  Kind kind = Kind::kSilent;
  std::string key;  // Key in the job file; empty: only the kind of the value is checked.
  std::string why;  // For kNoteOnly and kNoteUnlessOff.
  std::map<std::string, std::string> words;
};

Translation Silent();
Translation NoteOnly(const std::string& why);
Translation NoteUnlessOff(const std::string& why);
Translation Whole(const std::string& key);
Translation Number(const std::string& key);
Translation Text(const std::string& key);
Translation Word(const std::string& key, const std::map<std::string, std::string>& words);
// `on` and `off`: values set for true and false; empty: none.
Translation Switch(const std::string& key, const std::string& on = "true",
                   const std::string& off = "false");

// By path of SourceTree. "wandb.*" matches everything below; the longest match wins.
using Translations = std::map<std::string, Translation>;

// Sets the settings in the table and notes all others, each path once. Null values are ignored.
void Translate(const SourceTree& tree, const Translations& table, JobDraft& draft);

// "training.steps: many: is not a whole number; set train.steps".
std::string NoValueNote(const std::string& path, const std::string& text, const std::string& why,
                        const std::string& key);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_TRANSLATION_H_
