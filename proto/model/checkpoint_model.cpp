#include "proto/model/checkpoint_model.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "proto/files/unique_fd.h"
#include "proto/model/model_fingerprint.h"

namespace trainyard {
namespace {

using nlohmann::json;

constexpr char kManifest[] = "/manifest.json";
// The limit is large, because in the manifest the model comes after the list of files (one file per
// rank).
constexpr size_t kMostBytes = size_t{64} << 20;
// Entries of a directory that are searched for checkpoints.
constexpr int kMaxEntries = 10'000;

// Extracts the value of the key "model" in the outermost object as text, then stops the parser.
class ModelFinder : public json::json_sax_t {
 public:
  const std::optional<std::string>& model() const { return model_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& value) override {
    if (depth_ != 1 || key_ != "model") return true;
    model_ = value;
    return false;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& key) override {
    if (depth_ == 1) key_ = key;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
  std::string key_;  // The current key in the outermost object.
  std::optional<std::string> model_;
};

// Reads the first bytes of a regular file. On failure sets `error` to an errno value. Rejects other
// file types, because reading from a pipe, for example, could block forever.
std::optional<std::string> ReadBeginning(const std::string& path, int& error) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd.valid() || fstat(fd.get(), &status) != 0) {
    error = errno;
    return std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) {
    error = EINVAL;
    return std::nullopt;
  }
  std::string text(std::min(kMostBytes, static_cast<size_t>(status.st_size)), '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error = errno;
      return std::nullopt;
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

// Parses a mapping without nested values. Returns a value that is not an object if the text is
// anything else. Nested values are rejected, because deep nesting could exhaust the stack of code
// that prints the result.
json ParseShape(const std::string& text) {
  const auto is_flat = [](int depth, json::parse_event_t, json&) { return depth <= 1; };
  return json::parse(text, is_flat, /*allow_exceptions=*/false);
}

// Returns the newest published checkpoint in a directory of checkpoints; "" if there is none. The
// steps in the names have a fixed number of digits, so the last name is that of the newest one.
std::string NewestIn(const std::string& directory) {
  std::string newest;
  int entries = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end && entries < kMaxEntries; entry.increment(error), ++entries) {
    const std::string path = entry->path().string();
    const std::string name = entry->path().filename().string();
    // The names of unpublished checkpoints have a dot.
    const bool is_checkpoint = name.starts_with("step_") && name.find('.') == std::string::npos;
    struct stat status {};
    if (is_checkpoint && path > newest && stat((path + kManifest).c_str(), &status) == 0) {
      newest = path;
    }
  }
  return newest;
}

CheckpointFit WithoutManifest(const std::string& directory) {
  std::string problem =
      directory + " is not a published checkpoint, because it has no manifest.json";
  const std::string newest = NewestIn(directory);
  if (!newest.empty()) problem += "; it contains checkpoints, and the newest is " + newest;
  return {.problem = std::move(problem)};
}

}  // namespace

CheckpointFit CheckCheckpointModel(const std::string& directory, const ModelConfig& model) {
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) {
    return {.unchecked = directory + " is not visible from this machine"};
  }
  if (!S_ISDIR(status.st_mode)) {
    return {.problem = directory + " is not a checkpoint, because it is not a directory"};
  }
  int error = 0;
  const std::optional<std::string> text = ReadBeginning(directory + kManifest, error);
  if (error == ENOENT) return WithoutManifest(directory);
  if (!text.has_value()) {
    return {.unchecked = "cannot read " + directory + kManifest + ": " + std::strerror(error)};
  }
  ModelFinder finder;
  json::sax_parse(*text, &finder);
  if (!finder.model().has_value()) {
    return {.unchecked = directory + kManifest + " contains no readable description of the model"};
  }
  if (*finder.model() == ModelFingerprint(model)) return {};
  const json theirs = ParseShape(*finder.model());
  if (!theirs.is_object()) {
    return {.unchecked =
                directory + kManifest + " describes the model in the format of another release"};
  }
  const std::string differences = ModelDifferences(ModelShape(model), theirs);
  if (differences.empty()) return {};
  return {.problem = "the checkpoint " + directory + " is of another model: " + differences +
                     ". Resume with the settings that the checkpoint was trained with"};
}

}  // namespace trainyard
