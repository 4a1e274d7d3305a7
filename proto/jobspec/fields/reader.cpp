#include "proto/jobspec/fields/reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/jobspec/fields/schema.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// Returns the names of the recipes in the directories, for the hint "did you mean".
std::vector<std::string> RecipeNames(const std::vector<std::string>& directories) {
  std::vector<std::string> names;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<JobFileText> ReadText(const fs::path& path, const std::string& display_name) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(display_name, ": is a directory"));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return absl::NotFoundError(absl::StrCat(display_name, ": cannot be opened: ", strerror(errno)));
  }
  // Read one byte more than allowed, so that ParseYaml detects a file that is too large.
  std::string text(kMaxJobFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return JobFileText{display_name, std::move(text)};
}

bool LooksLikePath(const std::string& reference) {
  return absl::StrContains(reference, '/') || absl::EndsWith(reference, ".yaml") ||
         absl::EndsWith(reference, ".yml") || absl::EndsWith(reference, ".json");
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

JobFileReader FileSystemReader(std::vector<std::string> recipe_directories) {
  return [directories = std::move(recipe_directories)](
             const std::string& reference, const std::string& from) -> absl::StatusOr<JobFileText> {
    const std::string prefix = from.empty() ? "" : from + ": extends: ";
    if (LooksLikePath(reference)) {
      const fs::path path = fs::path(from).parent_path() / reference;
      if (IsFile(path)) return ReadText(path, path.lexically_normal().string());
      return absl::NotFoundError(absl::StrCat(prefix, path.string(), ": no such file"));
    }
    for (const std::string& directory : directories) {
      const fs::path path = fs::path(directory) / (reference + ".yaml");
      if (IsFile(path)) return ReadText(path, path.lexically_normal().string());
    }
    if (directories.empty()) {
      return absl::NotFoundError(absl::StrCat(
          prefix, "no recipe `", reference,
          "`: no recipe folder was found beside the program; set one with --recipes DIR"));
    }
    const std::string nearest = NearestName(reference, RecipeNames(directories));
    return absl::NotFoundError(
        absl::StrCat(prefix, "no recipe `", reference, "` in ", absl::StrJoin(directories, ", "),
                     nearest.empty() ? "; `trainyard recipe list` lists the recipes. A path must "
                                       "contain `/` or end with .yaml"
                                     : absl::StrCat("; did you mean `", nearest, "`?")));
  };
}

JobFileReader RecipeReader(std::vector<std::string> recipe_directories) {
  return [recipes = FileSystemReader(std::move(recipe_directories))](
             const std::string& reference, const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty() && LooksLikePath(reference)) {
      return absl::InvalidArgumentError(
          absl::StrCat("recipe `", reference, "` is a path; pass the name of a recipe"));
    }
    return recipes(reference, from);
  };
}

std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory) {
  std::vector<std::string> found;
  const auto add = [&found](const fs::path& directory) {
    std::error_code error;
    if (fs::is_directory(directory, error)) found.push_back(directory.lexically_normal().string());
  };
  fs::path above = program_directory;
  for (int level = 0; level < 3; ++level) {
    above = above.parent_path();
    std::error_code error;
    if (fs::exists(above / "CMakeLists.txt", error)) add(above / "recipes");
  }
  add(fs::path(program_directory).parent_path() / "share/trainyard/recipes");
  return found;
}

JobFileReader LocalTextReader(std::string name, std::string text, JobFileReader files) {
  return [name = std::move(name), text = std::move(text), files = std::move(files)](
             const std::string& reference, const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty() && reference == name) return JobFileText{name, text};
    return files(reference, from);
  };
}

JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories) {
  return [text = std::move(text), recipes = FileSystemReader(std::move(recipe_directories))](
             const std::string& reference, const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty() && reference == kSentJobFile) {
      return JobFileText{kSentJobFile, text, true};
    }
    if (from == kSentJobFile && LooksLikePath(reference)) {
      return absl::InvalidArgumentError(
          absl::StrCat(from, ": extends: `", reference,
                       "` is a path, but a job file sent to the controller can extend only the "
                       "controller's recipes, by name"));
    }
    return recipes(reference, from);
  };
}

}  // namespace trainyard
