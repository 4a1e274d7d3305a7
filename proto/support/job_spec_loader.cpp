#include "proto/support/job_spec_loader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/support/job_file_decoder.h"
#include "proto/support/job_spec_rules.h"
#include "proto/support/job_spec_schema.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxExtendsDepth = 16;

// Names of the recipes in a directory, for "did you mean".
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
    return absl::NotFoundError(absl::StrCat(display_name, ": cannot be opened"));
  }
  // One byte more than allowed, so that ParseYaml sees that the file is too large.
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

// Loads a file and everything that it extends, bases first.
class ChainLoader {
 public:
  ChainLoader(const JobFileReader& reader, DecodeContext& context)
      : reader_(reader), context_(context) {}

  // Whether the file that was loaded first was sent as text.
  bool sent() const { return sent_; }

  absl::Status Load(const std::string& reference, const std::string& from) {
    TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file, reader_(reference, from));
    if (chain_.empty()) sent_ = file.sent;
    if (std::find(chain_.begin(), chain_.end(), file.display_name) != chain_.end() ||
        chain_.size() >= kMaxExtendsDepth) {
      return absl::InvalidArgumentError(absl::StrCat(
          from, ": `extends` goes in a circle or is too deep: ", absl::StrJoin(chain_, " -> "),
          " -> ", file.display_name));
    }
    TRAINYARD_ASSIGN_OR_RETURN(const YAML::Node root, ParseYaml(file));
    chain_.push_back(file.display_name);
    for (const std::string& base : ReadExtends(root, file.display_name, context_)) {
      TRAINYARD_RETURN_IF_ERROR(Load(base, file.display_name));
    }
    chain_.pop_back();
    DecodeJobFile(root, file.display_name, file.sent ? "" : DirectoryOf(file.display_name),
                  context_);
    return absl::OkStatus();
  }

 private:
  static std::string DirectoryOf(const std::string& path) {
    return fs::absolute(path).parent_path().string();
  }

  const JobFileReader& reader_;
  DecodeContext& context_;
  std::vector<std::string> chain_;
  bool sent_ = false;
};

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
    const std::string nearest = NearestName(reference, RecipeNames(directories));
    return absl::NotFoundError(absl::StrCat(
        prefix, "no recipe `", reference, "` in ", absl::StrJoin(directories, ", "),
        nearest.empty() ? "; `trainyard recipes` lists them, and a path needs a `/` or `.yaml`"
                        : absl::StrCat("; did you mean `", nearest, "`?")));
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

JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories) {
  return [text = std::move(text), recipes = FileSystemReader(std::move(recipe_directories))](
             const std::string& reference, const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty() && reference == kSentJobFile) {
      return JobFileText{kSentJobFile, text, true};
    }
    if (from == kSentJobFile && LooksLikePath(reference)) {
      return absl::InvalidArgumentError(absl::StrCat(
          from, ": extends: `", reference,
          "` is a path; a job file that is sent may extend recipes of the controller by name"));
    }
    return recipes(reference, from);
  };
}

absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader) {
  DecodeContext context;
  ChainLoader loader(reader, context);
  TRAINYARD_RETURN_IF_ERROR(loader.Load(reference, ""));
  context.spec.clear_extends();
  const std::string here = loader.sent() ? "" : fs::current_path().string();
  for (const std::string& text : overrides) DecodeOverride(text, here, context);
  FillDefaults(context.spec, context.origins);
  // Without its command a job looks like one of our trainer's: what it lacks would be noise.
  const bool knows_program = !context.failed_keys.contains("command");
  for (const SpecProblem& problem :
       knows_program ? FindProblems(context.spec) : std::vector<SpecProblem>()) {
    if (!context.failed_keys.contains(problem.key)) {
      context.errors.push_back(Describe(problem, context.origins));
    }
  }
  if (!context.errors.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(context.errors, "\n"));
  }
  return ResolvedSpec{std::move(context.spec), std::move(context.origins)};
}

}  // namespace trainyard
