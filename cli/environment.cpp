#include "cli/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

std::string EnvironmentText(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Login {
  std::string name;
  std::string home;
};

Login ReadLogin() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  Login login{absl::StrCat("uid-", getuid()), EnvironmentText("HOME")};
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    login.name = found->pw_name;
    if (login.home.empty()) login.home = found->pw_dir;
  }
  return login;
}

// BUILD/bin/trainyard of a source tree has SOURCE/recipes above it; PREFIX/bin/trainyard has
// PREFIX/share/trainyard/recipes.
std::vector<std::string> FindRecipeDirectories(const fs::path& program_directory) {
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
  add(program_directory.parent_path() / "share/trainyard/recipes");
  return found;
}

}  // namespace

Environment SystemEnvironment(const Clock& clock, Interrupt& interrupt) {
  Environment environment;
  environment.console = SystemConsole(clock);
  environment.interrupt = &interrupt;
  const std::string server = EnvironmentText("TRAINYARD_SERVER");
  if (!server.empty()) environment.server = server;
  Login login = ReadLogin();
  environment.user = std::move(login.name);
  environment.home = std::move(login.home);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  environment.program_directory = program.parent_path().string();
  environment.recipe_directories = FindRecipeDirectories(program.parent_path());
  return environment;
}

}  // namespace trainyard::cli
