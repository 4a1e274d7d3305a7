#include "trainer/checkpoint_tools/commands/diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/tensor_selection.h"
#include "trainer/checkpoint_tools/files/open_checkpoint.h"
#include "trainer/checkpoint_tools/files/tensor_stream.h"
#include "trainer/config/trainer_error.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Number of bytes of a tensor that are compared at once, while the next bytes are read.
constexpr int64_t kComparedBytes = int64_t{64} << 20;

// Reads one tensor of one checkpoint, window by window.
class TensorWindows {
 public:
  TensorWindows(const CheckpointReader& reader, const std::string& name, int64_t window_bytes)
      : stream_(reader.directory(), name, reader.manifest().entries.tensors.at(name)) {
    for (Buffer& buffer : buffers_) buffer.reset(new char[static_cast<size_t>(window_bytes)]);
  }

  void ReadNext(int64_t elements) { stream_.Read(elements, buffers_[1].get()); }
  // Makes the window that was read last the current window.
  void Advance() { std::swap(buffers_[0], buffers_[1]); }
  const char* current() const { return buffers_[0].get(); }

 private:
  using Buffer = std::unique_ptr<char[]>;
  TensorStream stream_;
  std::array<Buffer, 2> buffers_;  // The current window, and the one that is read next.
};

ValueDifference DiffValues(const CheckpointReader& a, const CheckpointReader& b,
                           const std::string& name, const LogicalTensor& tensor) {
  const int64_t elements = ElementsOf(tensor.shape).value();
  const auto element_bytes = static_cast<int64_t>(c10::elementSize(tensor.dtype));
  const int64_t window = std::min(elements, kComparedBytes / element_bytes);
  TensorWindows from_a(a, name, window * element_bytes), from_b(b, name, window * element_bytes);
  ValueDifference sum;
  int64_t compared = 0, read = 0;
  while (compared < elements) {
    const int64_t current = read - compared, next = std::min(window, elements - read);
    ValueDifference difference;
    ParallelTasks(3, 3, [&](size_t, size_t task) {
      if (task == 0) from_a.ReadNext(next);
      if (task == 1) from_b.ReadNext(next);
      if (task == 2) {
        difference = CompareValues(tensor.dtype, from_a.current(), from_b.current(), current);
      }
    });
    sum.Add(difference);
    compared += current;
    read += next;
    from_a.Advance();
    from_b.Advance();
  }
  return sum;
}

// Returns the keys and values of the model settings and of the trainer state.
std::map<std::string, json> SettingsOf(const CheckpointReader& reader) {
  std::map<std::string, json> settings;
  const auto add = [&settings](const std::string& part, const json& values) {
    if (!values.is_object()) {
      settings[part] = values;
      return;
    }
    for (const auto& [key, value] : values.items()) settings[part + "." + key] = value;
  };
  const std::string& model = reader.model_fingerprint();
  const json parsed = json::parse(model, nullptr, /*allow_exceptions=*/false);
  add("model", parsed.is_object() ? parsed : json(model));
  add("trainer", reader.trainer_state());
  settings["trainer.step"] = reader.step();
  return settings;
}

std::vector<SettingDifference> DiffSettings(const CheckpointReader& a, const CheckpointReader& b) {
  std::map<std::string, SettingDifference> both;
  for (const auto& [key, value] : SettingsOf(a)) both[key] = {key, value, nullptr};
  for (const auto& [key, value] : SettingsOf(b)) {
    both[key].key = key;
    both[key].b = value;
  }
  std::vector<SettingDifference> differences;
  for (auto& [_, setting] : both) {
    if (setting.a != setting.b) differences.push_back(std::move(setting));
  }
  return differences;
}

std::optional<LogicalTensor> Find(const CheckpointReader& reader, const std::string& name) {
  const auto found = reader.tensors().find(name);
  if (found == reader.tensors().end()) return std::nullopt;
  return found->second;
}

TensorDifference DiffTensor(const CheckpointReader& a, const CheckpointReader& b,
                            const std::string& name) {
  TensorDifference difference = {name, Find(a, name), Find(b, name), {}};
  const bool is_alike = difference.a && difference.b &&
                        difference.a->dtype == difference.b->dtype &&
                        difference.a->shape == difference.b->shape;
  if (is_alike) difference.values = DiffValues(a, b, name, *difference.a);
  return difference;
}

std::set<std::string> SelectedNames(const CheckpointReader& a, const CheckpointReader& b,
                                    const std::string& only) {
  std::set<std::string> names;
  for (const CheckpointReader* reader : {&a, &b}) {
    for (const auto& [name, _] : reader->tensors()) {
      if (IsSelected(name, only)) names.insert(name);
    }
  }
  if (names.empty() && !only.empty()) {
    throw TrainerError(
        ExitCode::kUsage,
        "neither checkpoint has a tensor that `--only " + only +
            "` selects; pass `weights`, `optimizer` or the beginning of a tensor's name");
  }
  return names;
}

}  // namespace

bool CheckpointDiff::IsWithin(double tolerance) const {
  return settings.empty() &&
         std::all_of(tensors.begin(), tensors.end(), [tolerance](const TensorDifference& tensor) {
           return tensor.IsWithin(tolerance);
         });
}

CheckpointDiff DiffCheckpoints(const DiffOptions& options) {
  const std::unique_ptr<CheckpointReader> a = OpenCheckpoint(options.a);
  const std::unique_ptr<CheckpointReader> b = OpenCheckpoint(options.b);
  CheckpointDiff diff;
  if (options.only.empty()) diff.settings = DiffSettings(*a, *b);
  for (const std::string& name : SelectedNames(*a, *b, options.only)) {
    diff.tensors.push_back(DiffTensor(*a, *b, name));
  }
  return diff;
}

}  // namespace trainyard::trainer
