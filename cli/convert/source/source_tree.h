// A configuration of another program as a flat list of values, independent of its format.
#ifndef TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_
#define TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// kOpen: an expression or a reference whose value is not in the text.
enum class SourceKind { kText, kNumber, kSwitch, kNull, kOpen };

struct SourceValue {
  std::string path;  // "training.seq_len"; elements of a list share the path "betas[]".
  std::string text;
  SourceKind kind = SourceKind::kText;
  int line = 0;
};

// Limits on the number of values and their depth: a few lines of YAML aliases can expand to
// billions.
inline constexpr std::size_t kMaxSourceValues = 20000;
inline constexpr int kMaxSourceDepth = 64;

class SourceTree {
 public:
  // RESOURCE_EXHAUSTED above kMaxSourceValues.
  absl::Status Add(SourceValue value);

  const std::vector<SourceValue>& values() const { return values_; }

  // The Python call that created the configuration, such as "llm.GPTConfig7B"; empty if there is
  // none.
  const std::string& call() const { return call_; }
  int call_line() const { return call_line_; }
  void SetCall(const std::string& call, int line) {
    call_ = call;
    call_line_ = line;
  }

  // The last value with this path, because in these formats the last occurrence of a repeated key
  // wins.
  const SourceValue* Find(const std::string& path) const;
  std::vector<SourceValue> FindAll(const std::string& path) const;
  std::string Text(const std::string& path) const;  // Empty if there is none.
  int Line(const std::string& path) const;          // 0 if there is none.
  // `fallback` also if the value is not a whole number. Clamped to 10^9 in magnitude, so that
  // products fit.
  int64_t Whole(const std::string& path, int64_t fallback) const;
  bool IsTrue(const std::string& path) const;
  // True if a value has this path or is below it.
  bool Has(const std::string& path) const;

  // Resolves `${model.seq_length}` and `${.name}`, as Hydra does, if their values exist. Text in
  // which a `${` remains becomes kOpen, and so does Hydra's `???`.
  void ResolveReferences();

 private:
  std::vector<SourceValue> values_;
  std::string call_;
  int call_line_ = 0;
  std::map<std::string, std::size_t> last_;  // Position of the last value of each path.
};

// Parses "3e-4", "1_000_000"; nullopt for other text, NaN and infinity.
std::optional<double> NumberOf(const std::string& text);
// The same for whole numbers of at most 10^18 in magnitude.
std::optional<int64_t> WholeOf(const std::string& text);
// Kind of an unquoted scalar, with YAML's words for true, false and null.
SourceKind PlainKind(const std::string& text);

// Each of these functions parses a text and records line numbers. INVALID_ARGUMENT names the
// position of an error.
absl::StatusOr<SourceTree> ReadYamlTree(const std::string& text);
absl::StatusOr<SourceTree> ReadJsonTree(const std::string& text);  // Comments are permitted.
absl::StatusOr<SourceTree> ReadTomlTree(const std::string& text);
// Reads each assignment of a dictionary or of a call, such as `config = {"lr": 3e-4}` and `c =
// TrainConfig(model=ModelConfig(d_model=4096))`, with later assignments below it: `c.model.n_layers
// = 32`, `config["lr"] = 1e-4`. Nothing is executed; a value that is not a literal keeps its text
// as kOpen. Returns at least one tree.
absl::StatusOr<std::vector<SourceTree>> ReadPythonTrees(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_
