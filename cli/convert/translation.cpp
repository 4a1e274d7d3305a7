#include "cli/convert/translation.h"

#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace trainyard::cli {
namespace {

using Kind = Translation::Kind;

std::string Shortened(const std::string& text) {
  constexpr size_t kLongest = 120;
  const std::string line = text.substr(0, text.find('\n'));
  if (line.size() == text.size() && text.size() <= kLongest) return text;
  return absl::StrCat(line.substr(0, kLongest), "...");
}

// Returns the table's entry for the path or, failing that, for the path's longest prefix.
const Translation* EntryOf(const Translations& table, const std::string& path, std::string* at) {
  *at = path;
  if (const auto found = table.find(path); found != table.end()) return &found->second;
  for (size_t end = path.find_last_of(".["); end != std::string::npos;
       end = end == 0 ? std::string::npos : path.find_last_of(".[", end - 1)) {
    *at = absl::StrCat(path.substr(0, end), ".*");
    if (const auto found = table.find(*at); found != table.end()) return &found->second;
  }
  *at = path;
  return nullptr;
}

class Translator {
 public:
  Translator(const Translations& table, JobDraft& draft) : table_(table), draft_(draft) {}

  void Take(const SourceValue& value) {
    if (value.kind == SourceKind::kNull) return;
    draft_.At(value.line, value.path);
    std::string at;
    const Translation* entry = EntryOf(table_, value.path, &at);
    ++counts_.all;
    if (entry == nullptr) {
      ++counts_.unknown;
      return Note(value, value.path, "not understood");
    }
    switch (entry->kind) {
      case Kind::kSilent:
        return;
      case Kind::kNoteOnly:
        return Note(value, at, entry->why);
      case Kind::kNoteUnlessOff:
        if (IsTrueText(value.text) || NumberOf(value.text).value_or(0) > 0)
          Note(value, at, entry->why);
        return;
      default:
        return TakeValue(value, *entry);
    }
  }

  KeyCounts counts() const { return counts_; }

 private:
  void Note(const SourceValue& value, const std::string& at, const std::string& why) {
    if (!said_.insert(at).second) return;
    draft_.Note(value.line, absl::StrCat(value.path, ": ", Shortened(value.text), ": ", why));
  }

  void Refuse(const SourceValue& value, const std::string& what, const Translation& entry) {
    Note(value, value.path, entry.key.empty() ? what : absl::StrCat(what, "; set ", entry.key));
  }

  void TakeValue(const SourceValue& value, const Translation& entry) {
    if (value.kind == SourceKind::kOpen) {
      return Refuse(value, "the value is not in the text", entry);
    }
    switch (entry.kind) {
      case Kind::kWhole:
        if (!WholeOf(value.text).has_value()) return Refuse(value, NotWhole(value.text), entry);
        return Set(entry, absl::StrCat(*WholeOf(value.text)));
      case Kind::kNumber:
        if (!NumberOf(value.text).has_value()) return Refuse(value, "is not a number", entry);
        return Set(entry, absl::StrReplaceAll(value.text, {{"_", ""}}));
      case Kind::kSwitch:
        if (value.kind != SourceKind::kSwitch && value.text != "True" && value.text != "False") {
          return Refuse(value, "is neither true nor false", entry);
        }
        return Set(entry, entry.words.at(IsTrueText(value.text) ? "true" : "false"));
      case Kind::kWord:
        return TakeWord(value, entry);
      default:
        return Set(entry, value.text);
    }
  }

  static std::string NotWhole(const std::string& text) {
    constexpr double kMostBits = 9.2e18;
    const bool is_large = std::abs(NumberOf(text).value_or(0)) > kMostBits;
    return is_large ? "needs more than 64 bits" : "is not a whole number";
  }

  void TakeWord(const SourceValue& value, const Translation& entry) {
    const auto found = entry.words.find(value.text);
    if (found != entry.words.end()) return Set(entry, found->second);
    std::vector<std::string> known;
    for (const auto& [word, unused] : entry.words) known.push_back(word);
    Refuse(value, absl::StrCat("is not supported; supported values: ", absl::StrJoin(known, ", ")),
           entry);
  }

  void Set(const Translation& entry, const std::string& text) {
    if (!entry.key.empty()) draft_.Set(entry.key, text);
  }

  const Translations& table_;
  JobDraft& draft_;
  std::set<std::string> said_;
  KeyCounts counts_;
};

Translation Of(Kind kind, const std::string& key) { return {kind, key, "", {}}; }

}  // namespace

bool IsTrueText(const std::string& text) {
  const std::string word = absl::AsciiStrToLower(text);
  return word == "true" || word == "yes" || word == "on" || word == "1";
}

Translation Silent() { return {}; }
Translation NoteOnly(const std::string& why) { return {Kind::kNoteOnly, "", why, {}}; }
Translation NoteUnlessOff(const std::string& why) { return {Kind::kNoteUnlessOff, "", why, {}}; }
Translation Whole(const std::string& key) { return Of(Kind::kWhole, key); }
Translation Number(const std::string& key) { return Of(Kind::kNumber, key); }
Translation Text(const std::string& key) { return Of(Kind::kText, key); }

Translation Word(const std::string& key, const std::map<std::string, std::string>& words) {
  return {Kind::kWord, key, "", words};
}

Translation Switch(const std::string& key, const std::string& on, const std::string& off) {
  return {Kind::kSwitch, key, "", {{"true", on}, {"false", off}}};
}

KeyCounts Translate(const SourceTree& tree, const Translations& table, JobDraft& draft) {
  Translator translator(table, draft);
  for (const SourceValue& value : tree.values()) translator.Take(value);
  draft.At(0, "");
  return translator.counts();
}

void NameLeftOut(const SourceTree& tree, const Translations& table, JobDraft& draft) {
  for (const SourceValue& value : tree.values()) {
    std::string at;
    const Translation* entry = EntryOf(table, value.path, &at);
    if (entry == nullptr || value.kind == SourceKind::kNull || tree.WasRead(value.path)) continue;
    const bool only_checks =
        entry->key.empty() &&
        (entry->kind == Kind::kWhole || entry->kind == Kind::kNumber || entry->kind == Kind::kText);
    if (entry->kind == Kind::kSilent || only_checks) {
      draft.LeaveOut(value.path, "trainyard-trainer has no such setting and needs none");
    }
  }
}

std::string NoValueNote(const std::string& path, const std::string& text, const std::string& why,
                        const std::string& key) {
  return absl::StrCat(path, ": ", Shortened(text), ": ", why, "; set ", key);
}

}  // namespace trainyard::cli
