// Runs commands on the shipped recipes, and on the
// figures in the source documents of the recipes.
#ifndef TRAINYARD_TESTS_CLI_COMMANDS_RECIPES_RECIPES_FIXTURE_H_
#define TRAINYARD_TESTS_CLI_COMMANDS_RECIPES_RECIPES_FIXTURE_H_

#include <string>

#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {

class RecipesFixture : public CliFixture {
 protected:
  RecipesFixture() { environment_.recipe_directories = {RECIPES_DIRECTORY}; }

  static std::string Document(const std::string& name) {
    return std::string(DOCUMENTS_DIRECTORY) + "/" + name + ".yaml";
  }

  CliResult Check(const std::string& name, const std::string& text) {
    return Run({"recipe", "check", WriteFile(name + ".yaml", text)});
  }
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_COMMANDS_RECIPES_RECIPES_FIXTURE_H_
