// A configuration of another program as a flat list of values, whatever its format.
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

// kOpen: an expression or a reference whose value the text does not say.
enum class SourceKind { kText, kNumber, kSwitch, kNull, kOpen };

struct SourceValue {
  std::string path;  // "training.seq_len"; elements of a list share the path "betas[]".
  std::string text;
  SourceKind kind = SourceKind::kText;
  int line = 0;
};

// More values, or deeper ones, are refused: a few lines of YAML aliases can stand for billions.
inline constexpr std::size_t kMaxSourceValues = 20000;
inline constexpr int kMaxSourceDepth = 64;

class SourceTree {
 public:
  // RESOURCE_EXHAUSTED above kMaxSourceValues.
  absl::Status Add(SourceValue value);

  const std::vector<SourceValue>& values() const { return values_; }

  // The call of Python code that made the configuration, such as "llm.GPTConfig7B"; empty: none
  // did.
  const std::string& call() const { return call_; }
  int call_line() const { return call_line_; }
  void SetCall(const std::string& call, int line) {
    call_ = call;
    call_line_ = line;
  }

  // The last value with this path: where a key is written twice the formats take the last one.
  const SourceValue* Find(const std::string& path) const;
  std::vector<SourceValue> FindAll(const std::string& path) const;
  std::string Text(const std::string& path) const;  // Empty where there is none.
  int Line(const std::string& path) const;          // 0 where there is none.
  // `fallback` also where it is no whole number; cut to 10^9 in magnitude, so that products fit.
  int64_t Whole(const std::string& path, int64_t fallback) const;
  bool IsTrue(const std::string& path) const;
  // True when a value has this path or lies below it.
  bool Has(const std::string& path) const;

  // Puts values in for `${model.seq_length}` and `${.name}`, as Hydra does, where they are there.
  // Texts in which a `${` is left become kOpen, and so does Hydra's `???`.
  void ResolveReferences();

 private:
  std::vector<SourceValue> values_;
  std::string call_;
  int call_line_ = 0;
  std::map<std::string, std::size_t> last_;  // Position of the last value of each path.
};

// Reads "3e-4", "1_000_000"; nothing for other texts, NaN and infinity.
std::optional<double> NumberOf(const std::string& text);
// The same for whole numbers of at most 10^18 in magnitude.
std::optional<int64_t> WholeOf(const std::string& text);
// Kind of a scalar that has no quotes: YAML's words for true, false and null.
SourceKind PlainKind(const std::string& text);

// Each reads a text with lines. INVALID_ARGUMENT says where it is not valid.
absl::StatusOr<SourceTree> ReadYamlTree(const std::string& text);
absl::StatusOr<SourceTree> ReadJsonTree(const std::string& text);  // Comments are allowed.
absl::StatusOr<SourceTree> ReadTomlTree(const std::string& text);
// Each assignment of a dictionary or of a call, such as `config = {"lr": 3e-4}` and
// `c = TrainConfig(model=ModelConfig(d_model=4096))`, with what is assigned below it later:
// `c.model.n_layers = 32`, `config["lr"] = 1e-4`. Nothing is executed; a value that is no literal
// keeps its text as kOpen. At least one tree.
absl::StatusOr<std::vector<SourceTree>> ReadPythonTrees(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_
