#include "tests/tidy/include_rules.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

// Folders of proto/ that do not use protobuf. Every other folder may include them, even the
// trainer.
const std::vector<std::string>& PlainRooms() {
  static const std::vector<std::string> rooms = {"proto/contract", "proto/files", "proto/layout",
                                                 "proto/memory",   "proto/model", "proto/rules",
                                                 "proto/samples",  "proto/text"};
  return rooms;
}

// A rule for includes of our own headers. Files of `folder` may include only headers of `allowed`
// and of the plain folders (PlainRooms). Files of a plain folder may include only headers of
// `allowed`. A file obeys only the first rule whose folder contains the file.
struct IncludeRule {
  std::string folder;
  std::vector<std::string> allowed;
};

std::vector<IncludeRule> PlainRoomRules() {
  return {
      {"proto/contract", {"proto/contract"}},
      {"proto/files", {"proto/files"}},
      {"proto/text", {"proto/text"}},
      {"proto/model", {"proto/model", "proto/contract", "proto/files"}},
      {"proto/layout", {"proto/layout", "proto/contract", "proto/model"}},
      {"proto/rules",
       {"proto/rules", "proto/contract", "proto/layout", "proto/model", "proto/text"}},
      {"proto/samples", {"proto/samples", "proto/contract", "proto/rules"}},
      {"proto/memory",
       {"proto/memory", "proto/contract", "proto/layout", "proto/model", "proto/rules"}},
  };
}

// The folders of controller/api. Each may include the named folders beside it.
std::vector<IncludeRule> ApiRules() {
  const auto room = [](const std::string& name, const std::vector<std::string>& others) {
    IncludeRule rule{
        "controller/api/" + name,
        {"controller/access", "controller/store", "controller/core", "controller/planner",
         "proto/code", "proto/jobspec", "proto/json", "proto/support"}};
    rule.allowed.push_back(rule.folder);
    for (const std::string& other : others) rule.allowed.push_back("controller/api/" + other);
    return rule;
  };
  return {room("context", {}),
          room("job_files", {"context"}),
          room("jobs", {"context", "job_files"}),
          room("deletion", {"context", "jobs"}),
          room("records", {"context", "jobs"}),
          room("cluster", {"context"})};
}

// The folders of data/prepare. Every folder may include the folders below it in this list, and all
// other folders of data/ except data/pipeline.
std::vector<IncludeRule> PrepareRules() {
  const std::vector<std::string> below = {
      "data/unicode", "data/split",           "data/bpe",       "data/bpe_training",
      "data/input",   "data/decontamination", "data/documents", "data/tokenizer",
      "data/filter",  "data/stages",          "data/dedup",     "data/tokens",
      "data/report",  "data/parquet",         "proto/support"};
  std::vector<IncludeRule> rules;
  std::vector<std::string> rooms;
  for (const char* name : {"command", "tokenizers", "splits", "cleaning", "views"}) {
    rooms.push_back(std::string("data/prepare/") + name);
    rules.push_back({rooms.back(), below});
    rules.back().allowed.insert(rules.back().allowed.end(), rooms.begin(), rooms.end());
  }
  return rules;
}

std::vector<IncludeRule> ControllerRules() {
  return {
      {"controller/planner",
       {"controller/planner", "proto/jobspec", "proto/json", "proto/support"}},
      {"controller/core",
       {"controller/core", "controller/planner", "proto/jobspec", "proto/json", "proto/proof",
        "proto/support"}},
      {"controller/store",
       {"controller/store", "controller/core", "controller/planner", "proto/code", "proto/jobspec",
        "proto/json", "proto/support"}},
      {"controller/access",
       {"controller/access", "controller/core/support", "proto/access", "proto/proof",
        "proto/support"}},
      {"controller/api",
       {"controller/api", "controller/access", "controller/store", "controller/core",
        "controller/planner", "proto/code", "proto/jobspec", "proto/json", "proto/support"}},
      {"controller/kernel",
       {"controller/kernel", "controller/store", "controller/core", "proto/jobspec", "proto/json",
        "proto/support"}},
      {"controller/retention",
       {"controller/retention", "controller/api", "controller/store", "controller/core",
        "proto/support"}},
      {"controller/rpc",
       {"controller/rpc", "controller/api", "controller/access", "controller/store",
        "controller/core", "controller/planner", "proto/access", "proto/jobspec", "proto/json",
        "proto/proof", "proto/support"}},
      {"controller/metrics",
       {"controller/metrics", "controller/api", "controller/core", "controller/planner",
        "proto/jobspec", "proto/metrics", "proto/json", "proto/support"}},
      {"controller/http",
       {"controller/http", "controller/api", "controller/access", "controller/store",
        "controller/core", "controller/planner", "proto/access", "proto/jobspec", "proto/json",
        "proto/support"}},
      {"controller",
       {"controller", "proto/access", "proto/code", "proto/jobspec", "proto/metrics", "proto/json",
        "proto/process", "proto/proof", "proto/support"}},
  };
}

// The folders of data/, from raw text to token files.
std::vector<IncludeRule> DataRules() {
  return {
      {"data/unicode", {"data/unicode"}},
      {"data/split", {"data/split", "data/unicode"}},
      {"data/bpe", {"data/bpe", "data/split", "data/unicode", "proto/support"}},
      {"data/bpe_training",
       {"data/bpe_training", "data/bpe", "data/split", "data/unicode", "proto/support"}},
      {"data/tokenizer",
       {"data/tokenizer", "data/bpe", "data/split", "data/unicode", "proto/support"}},
      {"data/parquet", {"data/parquet", "proto/support"}},
      {"data/input", {"data/input", "data/parquet", "proto/support"}},
      {"data/documents", {"data/documents", "data/input", "proto/process", "proto/support"}},
      {"data/filter", {"data/filter", "data/bpe", "data/split", "data/unicode", "proto/support"}},
      {"data/stages", {"data/stages", "data/documents", "data/input", "proto/support"}},
      {"data/dedup",
       {"data/dedup", "data/stages", "data/documents", "data/input", "data/unicode",
        "proto/support"}},
      {"data/leases",
       {"data/leases", "data/stages", "data/documents", "data/input", "proto/proof",
        "proto/support"}},
      {"data/decontamination",
       {"data/decontamination", "data/dedup", "data/stages", "data/documents", "data/input",
        "data/unicode", "proto/support"}},
      {"data/tokens", {"data/tokens", "data/tokenizer", "proto/support"}},
      {"data/report",
       {"data/report", "data/stages", "data/documents", "data/input", "data/tokens",
        "data/tokenizer", "proto/support"}},
      {"data", {"data", "proto/process", "proto/support"}},
      // The command line starts the program; only the program's main file calls other folders.
      {"cli/data", {"cli/data", "cli/process", "data/prepare", "data/pipeline"}},
  };
}

std::vector<IncludeRule> ProgramRules() {
  return {
      {"proto/process", {"proto/process"}},
      {"proto/support", {"proto/support"}},
      {"proto/json", {"proto/json", "proto/support"}},
      {"proto/metrics", {"proto/metrics", "proto/support"}},
      {"proto/parsers", {"proto/parsers", "proto/support"}},
      {"proto/access", {"proto/access", "proto/proof", "proto/support"}},
      {"proto/proof", {"proto/proof"}},
      {"proto/code", {"proto/code", "proto/process", "proto/proof", "proto/support"}},
      {"proto/jobspec", {"proto/jobspec", "proto/json", "proto/support"}},
      {"proto/generator", {"proto/generator", "proto/jobspec", "proto/json", "proto/support"}},
      {"worker/core", {"worker/core", "proto/support"}},
      {"worker/process", {"worker/process", "proto/process", "proto/support"}},
      {"worker/environment",
       {"worker/environment", "worker/core", "worker/process", "proto/process", "proto/proof",
        "proto/support"}},
      {"worker/exec",
       {"worker/exec", "worker/process", "worker/rpc", "proto/access", "proto/process",
        "proto/support"}},
      {"worker/device", {"worker/device", "worker/process", "proto/support"}},
      {"worker/metrics",
       {"worker/metrics", "worker/core", "worker/device", "worker/spool", "proto/metrics",
        "proto/support"}},
      {"worker/tail", {"worker/tail", "worker/process", "proto/parsers", "proto/support"}},
      {"worker/spool", {"worker/spool", "worker/core", "worker/process", "proto/support"}},
      {"worker/rpc",
       {"worker/rpc", "worker/core", "worker/spool", "worker/tail", "worker/process",
        "proto/access", "proto/proof", "proto/support"}},
      {"worker",
       {"worker", "proto/access", "proto/code", "proto/metrics", "proto/json", "proto/parsers",
        "proto/proof", "proto/support"}},
      {"cli",
       {"cli", "controller/planner", "proto/access", "proto/code", "proto/jobspec", "proto/json",
        "proto/parsers", "proto/process", "proto/support"}},
      {"trainer", {"trainer"}},
      {"trainer/kernels", {"trainer/kernels"}},
  };
}

std::vector<IncludeRule> TestRules() {
  return {
      {"tests/proto/contract", {"tests/proto/contract"}},
      {"tests/proto/files", {"tests/proto/files"}},
      {"tests/proto/layout", {"tests/proto/layout"}},
      {"tests/proto/memory", {"tests/proto/memory"}},
      {"tests/proto/model", {"tests/proto/model"}},
      {"tests/proto/rules", {"tests/proto/rules"}},
      {"tests/proto/samples", {"tests/proto/samples"}},
      {"tests/trainer", {"tests/trainer", "tests/fakes", "tests/proto/memory", "trainer"}},
      {"tests/controller",
       {"tests", "controller", "proto/access", "proto/code", "proto/jobspec", "proto/metrics",
        "proto/json", "proto/proof", "proto/support"}},
      // Simulated nodes run the real core of the worker.
      {"tests/simulation",
       {"tests", "controller", "worker/core", "proto/jobspec", "proto/json", "proto/support"}},
      {"tests/worker",
       {"tests", "worker", "proto/access", "proto/code", "proto/metrics", "proto/json",
        "proto/parsers", "proto/proof", "proto/support"}},
  };
}

const std::vector<IncludeRule>& IncludeRules() {
  static const std::vector<IncludeRule> rules = [] {
    std::vector<IncludeRule> all = PlainRoomRules();
    for (const auto& more : {ApiRules(), PrepareRules(), DataRules(), ProgramRules(),
                             ControllerRules(), TestRules()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return rules;
}

bool IsPlainRoom(const std::string& folder) {
  return std::find(PlainRooms().begin(), PlainRooms().end(), folder) != PlainRooms().end();
}

bool MayInclude(const IncludeRule& rule, const std::string& header) {
  return IsBelowAny(header, rule.allowed) ||
         (!IsPlainRoom(rule.folder) && IsBelowAny(header, PlainRooms()));
}

bool IsOurs(const std::string& include) {
  return IsBelowAny(include, {"proto", "controller", "worker", "cli", "data", "trainer", "tests"});
}

const std::vector<std::string>& PureFolders() {
  static const std::vector<std::string> folders = {"controller/core", "controller/kernel",
                                                   "controller/planner", "worker/core"};
  return folders;
}

// Libraries that the folders must not use. Each library is given by a prefix of its include paths.
struct LibraryRule {
  std::vector<std::string> folders;
  std::vector<std::string> banned;
};

const std::vector<LibraryRule>& LibraryRules() {
  static const std::vector<LibraryRule> rules = {
      // LibTorch contains its own protobuf, which would conflict with ours.
      {{"trainer", "tests/trainer"}, {"grpc", "google/", "trainyard/v1/", "absl/"}},
      // nvcc also compiles these files on machines without LibTorch.
      {{"trainer/kernels"}, {"torch/", "c10/", "ATen/"}},
      // The trainer links these folders, which must
      // build on machines with nothing but a compiler.
      {{"proto/contract", "proto/files", "proto/layout", "proto/memory", "proto/rules",
        "proto/samples"},
       {"grpc", "google/", "trainyard/v1/", "absl/", "nlohmann/", "torch/", "filesystem"}},
      // The trainer includes these folders.
      {{"proto/model", "proto/text"}, {"grpc", "google/", "trainyard/v1/", "absl/"}},
      {PureFolders(),
       {"grpc", "sqlite", "boost/", "spdlog/", "fstream", "iostream", "thread", "mutex",
        "condition_variable", "atomic", "future", "random", "filesystem", "unistd.h", "sys/"}},
      {{"controller/store", "controller/api", "controller/http", "worker/process", "worker/device",
        "worker/tail", "worker/spool"},
       {"grpc"}},
      {{"controller/api", "controller/rpc", "controller/http", "worker", "cli", "data"},
       {"sqlite"}},
      {{"proto", "controller", "worker", "cli", "data"}, {"torch/", "ATen/", "c10/"}},
      // SentencePiece contains its own protobuf, which would conflict with ours.
      {{"data", "tests/data"}, {"grpc", "google/", "trainyard/v1/"}},
  };
  return rules;
}

const std::regex& BannedInPureFolders() {
  static const std::regex banned(
      R"(\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b)"
      R"(|\b(s?rand|drand48|random|getenv|secure_getenv|sleep|usleep|nanosleep|time)\s*\()"
      R"(|\b(random_device|mt19937|mt19937_64|sleep_for|sleep_until)\b)"
      R"(|\b(std::thread|std::jthread|std::mutex|std::async|std::atomic|thread_local)\b)"
      R"(|\b(absl::Now|absl::Mutex|absl::SleepFor|fopen|ifstream|ofstream|socket)\b)");
  return banned;
}

}  // namespace

Violations CheckIncludeDirection(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!IsCode(file.path)) continue;
    const auto rule =
        std::find_if(IncludeRules().begin(), IncludeRules().end(),
                     [&](const IncludeRule& entry) { return IsBelow(file.path, entry.folder); });
    if (rule == IncludeRules().end()) continue;
    for (const Include& include : IncludesOf(file.text)) {
      if (!IsOurs(include.path) || MayInclude(*rule, include.path)) continue;
      violations.push_back(
          At(file.path, include.line, rule->folder + " may not include " + include.path));
    }
  }
  return violations;
}

Violations CheckLibraries(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!IsCode(file.path)) continue;
    for (const LibraryRule& rule : LibraryRules()) {
      if (!IsBelowAny(file.path, rule.folders)) continue;
      for (const Include& include : IncludesOf(file.text)) {
        for (const std::string& banned : rule.banned) {
          const bool found = include.path.compare(0, banned.size(), banned) == 0;
          if (found) violations.push_back(At(file.path, include.line, "uses " + include.path));
        }
      }
    }
  }
  return violations;
}

Violations CheckPureFolders(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!IsCode(file.path) || !IsBelowAny(file.path, PureFolders())) continue;
    const std::string code = BlankCommentsAndLiterals(file.text);
    int line_number = 0;
    for (const std::string_view line : SplitLines(code)) {
      ++line_number;
      std::match_results<std::string_view::const_iterator> match;
      if (!std::regex_search(line.begin(), line.end(), match, BannedInPureFolders())) continue;
      violations.push_back(At(file.path, line_number, "impure: " + match[0].str()));
    }
  }
  return violations;
}

}  // namespace trainyard::tidy
