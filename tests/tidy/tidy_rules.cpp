#include "tests/tidy/tidy_rules.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

int Columns(std::string_view line) {
  return static_cast<int>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;  // False inside a UTF-8 character.
  }));
}

std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char byte : name) {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    } else {
      words.emplace_back();
    }
  }
  return words;
}

bool IsEmptyName(const std::string& name) {
  static const std::set<std::string> kNames = {"common", "utils",   "util",     "misc",   "helpers",
                                               "helper", "manager", "managers", "commons"};
  const std::vector<std::string> words = WordsOf(name);
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return kNames.count(word) > 0; });
}

// True if the CMake file contains `relative`, either bare or after a variable and a slash.
bool Lists(const std::string& cmake, const std::string& relative) {
  for (std::size_t at = cmake.find(relative); at != std::string::npos;
       at = cmake.find(relative, at + 1)) {
    const char before = at == 0 ? ' ' : cmake[at - 1];
    const std::size_t end = at + relative.size();
    const char after = end == cmake.size() ? ' ' : cmake[end];
    const bool begins = std::isspace(static_cast<unsigned char>(before)) != 0 || before == '(' ||
                        before == '"' || before == '/';
    const bool ends = std::isspace(static_cast<unsigned char>(after)) != 0 || after == ')' ||
                      after == '"' || after == '>';
    if (begins && ends) return true;
  }
  return false;
}

bool IsMarkedUnfinished(std::string_view line) {
  // Each mark is written in two parts, so that this file does not contain the mark.
  static constexpr std::string_view kMarks[] = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "X"
      "XX",
      "HA"
      "CK"};
  const auto is_word = [&](std::size_t at) {
    return at < line.size() && std::isalnum(static_cast<unsigned char>(line[at])) != 0;
  };
  for (const std::string_view mark : kMarks) {
    for (std::size_t at = line.find(mark); at != std::string_view::npos;
         at = line.find(mark, at + 1)) {
      if (!is_word(at - 1) && !is_word(at + mark.size())) return true;
    }
  }
  return false;
}

std::string GuardOf(const std::string& path) {
  std::string guard = "TRAINYARD_";
  for (const char byte : path) {
    const bool kept = std::isalnum(static_cast<unsigned char>(byte)) != 0;
    guard += kept ? static_cast<char>(std::toupper(static_cast<unsigned char>(byte))) : '_';
  }
  return guard + "_";
}

bool IsComment(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && line.substr(begin, 2) == "//";
}

// Returns the quoted literals that are names of the contract. Omits names of one word, because
// words such as "path" also have other meanings.
std::vector<std::string> NamesOfContract(const SourceTree& tree) {
  static const std::regex kConstant(R"re(constexpr char \w+\[\] = ("\w*_\w*[a-zA-Z]"))re");
  std::vector<std::string> names;
  for (const SourceFile& file : tree) {
    // token_format.h is excluded because some of its words are also used by tokenizers.
    const bool of_both_sides = file.path == "proto/contract/environment.h" ||
                               file.path == "proto/contract/telemetry_keys.h";
    if (!of_both_sides) continue;
    const auto begin = std::sregex_iterator(file.text.begin(), file.text.end(), kConstant);
    for (auto match = begin; match != std::sregex_iterator(); ++match) {
      names.push_back((*match)[1].str());
    }
  }
  return names;
}

}  // namespace

Violations CheckRemovals(const SourceTree& tree) {
  static const std::regex banned(R"(\b(remove_all|n?ftw)\s*\()");
  Violations violations;
  for (const SourceFile& file : tree) {
    const bool checked =
        IsCode(file.path) &&
        IsBelowAny(file.path, {"proto", "controller", "worker", "cli", "data", "trainer"});
    if (!checked) continue;
    const std::string code = BlankCommentsAndLiterals(file.text);
    int line_number = 0;
    for (const std::string_view line : SplitLines(code)) {
      ++line_number;
      std::match_results<std::string_view::const_iterator> match;
      if (!std::regex_search(line.begin(), line.end(), match, banned)) continue;
      violations.push_back(
          At(file.path, line_number, match[1].str() + ": use proto/files/remove_tree.h"));
    }
  }
  return violations;
}

Violations CheckAttemptName(const SourceTree& tree) {
  static const std::regex other_name(R"(\b(?!time_since_epoch\b|samples_per_epoch\b)\w*epoch\w*)",
                                     std::regex::icase);
  Violations violations;
  for (const SourceFile& file : tree) {
    const bool checked = IsCode(file.path) || HasExtension(file.path, {".proto", ".ts", ".tsx"}) ||
                         FileName(file.path) == "openapi.json";
    if (!checked || IsBelowAny(file.path, {"proto/samples", "trainer/data", "tests/proto/samples",
                                           "tests/trainer/data"})) {
      continue;
    }
    const std::string text = IsCode(file.path) ? BlankCommentsAndLiterals(file.text) : file.text;
    int line_number = 0;
    for (const std::string_view line : SplitLines(text)) {
      ++line_number;
      std::match_results<std::string_view::const_iterator> match;
      if (!std::regex_search(line.begin(), line.end(), match, other_name)) continue;
      violations.push_back(At(file.path, line_number,
                              match[0].str() + ": an epoch is a pass over data; say attempt"));
    }
  }
  return violations;
}

Violations CheckContractNames(const SourceTree& tree) {
  Violations violations;
  const std::vector<std::string> names = NamesOfContract(tree);
  for (const SourceFile& file : tree) {
    // Checkpoints have keys of their own, which must not change with those of telemetry.
    const bool bound = IsBelowAny(file.path, {"controller", "worker", "trainer", "cli", "data"}) &&
                       !IsBelowAny(file.path, {"trainer/state"});
    if (!bound || !IsCode(file.path)) continue;
    int line_number = 0;
    for (const std::string_view line : SplitLines(file.text)) {
      ++line_number;
      for (const std::string& name : names) {
        if (IsComment(line) || line.find(name) == std::string_view::npos) continue;
        violations.push_back(At(file.path, line_number, name + " has a name in proto/contract"));
      }
    }
  }
  return violations;
}

Violations CheckLines(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    // The fixtures are texts of other projects.
    const bool narrow = HasExtension(file.path, {".cpp", ".h", ".cu", ".sh", ".ts", ".tsx"}) &&
                        !IsBelowAny(file.path, {"tests/cli/convert/fixtures"});
    int line_number = 0;
    for (const std::string_view line : SplitLines(file.text)) {
      ++line_number;
      if (narrow && Columns(line) > kMaxColumns) {
        violations.push_back(At(file.path, line_number, "wider than 100 columns"));
      }
      if (line.find('\t') != std::string_view::npos) {
        violations.push_back(At(file.path, line_number, "tab"));
      }
      if (IsMarkedUnfinished(line)) {
        violations.push_back(At(file.path, line_number, "mark of unfinished work"));
      }
    }
  }
  return violations;
}

Violations CheckFieldComments(const SourceTree& tree) {
  static const std::regex field(R"(^ +(optional |repeated )?(map<[^>]+>|[\w.]+) \w+ = \d+.*)");
  static const std::regex section(R"(^ +\w+Spec \w+ = .*)");
  static const std::regex said(R"(.*(//|doc:).*)");
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!HasExtension(file.path, {".proto"})) continue;
    const std::vector<std::string_view> lines = SplitLines(file.text);
    bool in_oneof = false;
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
      const std::string line(lines[i]);
      if (line.find("oneof ") != std::string::npos) in_oneof = true;
      if (line.find('}') != std::string::npos) in_oneof = false;
      if (in_oneof || !std::regex_match(line, field) || std::regex_match(line, section)) continue;
      const bool commented = std::regex_match(line, said) || IsComment(lines[i - 1]) ||
                             lines[i + 1].find("doc:") != std::string_view::npos;
      if (!commented) {
        violations.push_back(At(file.path, static_cast<int>(i) + 1, "field without a comment"));
      }
    }
  }
  return violations;
}

Violations CheckNames(const SourceTree& tree) {
  std::set<std::string> found;
  for (const SourceFile& file : tree) {
    std::istringstream parts(file.path);
    std::string prefix;
    for (std::string part; std::getline(parts, part, '/');) {
      prefix += (prefix.empty() ? "" : "/") + part;
      if (IsEmptyName(part)) found.insert(prefix + ": the name says nothing");
    }
  }
  return {found.begin(), found.end()};
}

Violations CheckOrphans(const SourceTree& tree) {
  std::map<std::string, const std::string*> cmake_of_folder;
  for (const SourceFile& file : tree) {
    if (FileName(file.path) == "CMakeLists.txt" || HasExtension(file.path, {".cmake"})) {
      std::string folder = FolderOf(file.path);
      // Skips the other modules of cmake/, because their paths are relative to the root.
      if (folder == "cmake" && FileName(file.path) != "TrainyardDaemonLibraries.cmake") continue;
      cmake_of_folder[folder == "cmake" ? "cmake" : folder] = &file.text;
    }
  }
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!HasExtension(file.path, {".cpp", ".cu"})) continue;
    bool listed = false;
    std::string folder = FolderOf(file.path);
    for (; !listed; folder = FolderOf(folder)) {
      const auto cmake = cmake_of_folder.find(folder);
      const std::size_t skipped = folder.empty() ? 0 : folder.size() + 1;
      listed = cmake != cmake_of_folder.end() && Lists(*cmake->second, file.path.substr(skipped));
      if (folder.empty()) break;
    }
    if (!listed) violations.push_back(At(file.path, 1, "stands in no CMakeLists.txt"));
  }
  return violations;
}

Violations CheckReadmes(const SourceTree& tree) {
  std::set<std::string> folders;
  std::set<std::string> described;
  for (const SourceFile& file : tree) {
    const std::size_t slash = file.path.find('/');
    if (slash == std::string::npos) continue;
    folders.insert(file.path.substr(0, slash));
    if (file.path.substr(slash + 1) == "README.md") described.insert(file.path.substr(0, slash));
  }
  Violations violations;
  for (const std::string& folder : folders) {
    if (described.count(folder) == 0) violations.push_back(folder + ": no README.md");
  }
  return violations;
}

Violations CheckDroppedResults(const SourceTree& tree) {
  static const std::regex call(R"(\b(cuda|cublas|cublasLt|cudnn|nccl)[A-Z]\w*(?=\())");
  static const std::set<std::string> no_result = {"cudaGetLastError", "cudnnGetLastErrorString"};
  Violations violations;
  for (const auto& [path, text] : tree) {
    if (!IsBelow(path, "trainer")) continue;
    const std::string code = BlankCommentsAndLiterals(text);
    for (std::sregex_iterator it(code.begin(), code.end(), call), end; it != end; ++it) {
      const auto at = static_cast<std::size_t>(it->position());
      // A statement begins after another statement's end, a brace, or a loop header.
      const std::size_t before = code.find_last_not_of(" \n", at == 0 ? 0 : at - 1);
      const bool begins = before == std::string::npos ||
                          std::string(";{})").find(code[before]) != std::string::npos;
      if (!begins || no_result.contains(it->str())) continue;
      const auto line =
          std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      violations.push_back(At(path, static_cast<int>(line) + 1,
                              "the result of " + it->str() + " is dropped; check it"));
    }
  }
  return violations;
}

Violations CheckHeaderGuards(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!HasExtension(file.path, {".h"})) continue;
    if (file.text.find("#ifndef " + GuardOf(file.path) + "\n") != std::string::npos) continue;
    violations.push_back(At(file.path, 1, "not guarded by " + GuardOf(file.path)));
  }
  return violations;
}

}  // namespace trainyard::tidy
