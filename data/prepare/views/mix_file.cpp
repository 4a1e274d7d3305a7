#include "data/prepare/views/mix_file.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/rules/blend_stages.h"
#include "proto/rules/data_sources.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMixFileBytesMax = size_t{1} << 20;
// The limit of both lists in a job file.
constexpr size_t kListMax = 64;

class MixFileReader {
 public:
  explicit MixFileReader(const std::string& path) : path_(path) {}

  absl::StatusOr<DataConfig> Read(const YAML::Node& file) {
    if (!file.IsMap()) return Error(file, "must be a mapping with `blend`");
    DataConfig data;
    std::set<std::string> seen;
    for (const auto& entry : file) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (key != "blend" && key != "blend_stages") {
        return Error(entry.first,
                     absl::StrCat("unknown key `", key, "`; use blend or blend_stages"));
      }
      if (!seen.insert(key).second) return Error(entry.first, absl::StrCat("second `", key, "`"));
      std::vector<std::string>& list = key == "blend" ? data.blend : data.blend_stages;
      TRAINYARD_ASSIGN_OR_RETURN(list, ReadList(key, entry.second));
    }
    if (data.blend.empty()) {
      return Error(file, "has no `blend`; write a list such as [0.7 c4, 0.3 code]");
    }
    TRAINYARD_RETURN_IF_ERROR(MakeAbsolute(&data.blend));
    std::string problem = BlendOf(data).problem;
    if (problem.empty()) problem = BlendStagesOf(data).problem;
    if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat(path_, ": ", problem));
    return data;
  }

 private:
  absl::Status Error(const YAML::Node& node, const std::string& problem) const {
    const YAML::Mark mark = node.Mark();
    const std::string line = mark.is_null() ? "" : absl::StrCat(":", mark.line + 1);
    return absl::InvalidArgumentError(absl::StrCat(path_, line, ": ", problem));
  }

  absl::StatusOr<std::vector<std::string>> ReadList(const std::string& key,
                                                    const YAML::Node& node) const {
    if (!node.IsSequence() || node.size() > kListMax) {
      return Error(node,
                   absl::StrCat("`", key, "` must be a list of at most ", kListMax, " entries"));
    }
    std::vector<std::string> list;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        return Error(item, absl::StrCat("an entry of `", key, "` must be a text such as ",
                                        key == "blend" ? "0.7 c4" : "20000 c4=0.5 code=0.5"));
      }
      list.push_back(item.Scalar());
    }
    return list;
  }

  // Leaves entries without a path to the rule that refuses them.
  absl::Status MakeAbsolute(std::vector<std::string>* blend) const {
    std::error_code error;
    const fs::path directory = fs::absolute(path_, error).parent_path();
    for (std::string& entry : *blend) {
      const auto [weight, path] = SplitEntry(entry);
      if (path.empty()) continue;
      entry = absl::StrCat(weight, " ", (directory / path).lexically_normal().string());
      if (!IsUtf8(entry)) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": the directory has a name that is not UTF-8; rename it"));
      }
    }
    return absl::OkStatus();
  }

  const std::string& path_;
};

}  // namespace

absl::StatusOr<DataConfig> ReadMixFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMixFileBytesMax + 1, '\0');
  if (!file || file.read(text.data(), static_cast<std::streamsize>(text.size())).bad()) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot read the file; check the path"));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMixFileBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": larger than 1 MiB; shorten it"));
  }
  if (!IsUtf8(text)) return absl::InvalidArgumentError(absl::StrCat(path, ": not UTF-8"));
  // Catches the exceptions by which yaml-cpp reports errors.
  try {
    return MixFileReader(path).Read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.mark.line + 1, ": not valid YAML: ", error.msg));
  }
}

}  // namespace trainyard::data
