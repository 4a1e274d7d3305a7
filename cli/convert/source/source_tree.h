// A configuration of another program as a flat list of values, independent of the file format.
#ifndef TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_
#define TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// kOpen: an expression or reference whose value the text alone does not determine.
enum class SourceKind { kText, kNumber, kSwitch, kNull, kOpen };

struct SourceValue {
  std::string path;  // Such as "training.seq_len". All elements of a list have one path: "betas[]".
  std::string text;
  SourceKind kind = SourceKind::kText;
  int line = 0;
};

// Limits on the number of values and on their nesting depth. Without limits, a few lines of YAML
// with aliases could expand to billions of values.
inline constexpr std::size_t kMaxSourceValues = 20000;
inline constexpr int kMaxSourceDepth = 64;

class SourceTree {
 public:
  // RESOURCE_EXHAUSTED above kMaxSourceValues.
  absl::Status Add(SourceValue value);

  const std::vector<SourceValue>& values() const { return values_; }

  // The Python call that creates the configuration, such as "llm.GPTConfig7B"; else empty.
  const std::string& call() const { return call_; }
  int call_line() const { return call_line_; }
  void SetCall(const std::string& call, int line) {
    call_ = call;
    call_line_ = line;
  }

  // Returns the last value with this path, because the last occurrence of a repeated key counts in
  // all source formats.
  const SourceValue* Find(const std::string& path) const;
  std::vector<SourceValue> FindAll(const std::string& path) const;
  std::string Text(const std::string& path) const;  // Empty if there is no such value.
  int Line(const std::string& path) const;          // 0 if there is no such value.
  // Returns `fallback` if there is no value or the value is not a whole number.
  int64_t Whole(const std::string& path, int64_t fallback) const;
  bool IsTrue(const std::string& path) const;
  // True if there is a value at this path or below it.
  bool Has(const std::string& path) const;

  // If the target exists, resolves `${model.seq_length}` and `${.name}` as Hydra does. Text that
  // still contains `${`, and Hydra's placeholder `???`, become kOpen.
  void ResolveReferences();

  // True if one of the functions above has returned the value at this path, or MarkRead was called.
  // Such a value counts as taken.
  bool WasRead(const std::string& path) const { return read_.contains(path); }
  void MarkRead(const std::string& path) const { read_.insert(path); }
  // Returns the path of the value that was read last; empty if none was read since the last call.
  std::string TakeLastRead() const;

 private:
  std::vector<SourceValue> values_;
  std::string call_;
  int call_line_ = 0;
  std::map<std::string, std::size_t> last_;  // Index of the last value of each path.
  mutable std::set<std::string> read_;
  mutable std::string last_read_;
};

// Parses finite numbers such as "3e-4" and "1_000_000". Returns nullopt for any other text.
std::optional<double> NumberOf(const std::string& text);
// Parses whole numbers such as "8388608000", "1_000" and "5e12" exactly. Returns nullopt for a
// number that is not whole or needs more than 64 bits.
std::optional<int64_t> WholeOf(const std::string& text);
// Returns a * b, or nullopt if one of them is not positive or the product needs more than 64 bits.
std::optional<int64_t> PositiveProduct(int64_t a, int64_t b);
// Returns the kind of an unquoted scalar, and recognizes YAML's words for true, false and null.
SourceKind PlainKind(const std::string& text);

// Each of these functions parses a text and records the source line of each value. For invalid
// text, the functions return INVALID_ARGUMENT with the position of the error.
absl::StatusOr<SourceTree> ReadYamlTree(const std::string& text);
absl::StatusOr<SourceTree> ReadJsonTree(const std::string& text);  // Comments are permitted.
absl::StatusOr<SourceTree> ReadTomlTree(const std::string& text);
// Returns a tree for each assignment of a dictionary or a call, such as `config = {"lr": 3e-4}` and
// `c = TrainConfig(model=ModelConfig(d_model=4096))`. Later assignments to parts of that value are
// included: `c.model.n_layers = 32`, `config["lr"] = 1e-4`. Nothing is executed. A value that is
// not a literal becomes kOpen, with its source text. On success, there is at least one tree.
absl::StatusOr<std::vector<SourceTree>> ReadPythonTrees(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SOURCE_TREE_H_
