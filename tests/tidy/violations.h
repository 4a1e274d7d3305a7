// The violations of a rule, with the location of each.
#ifndef TRAINYARD_TESTS_TIDY_VIOLATIONS_H_
#define TRAINYARD_TESTS_TIDY_VIOLATIONS_H_

#include <string>
#include <vector>

namespace trainyard::tidy {

// Each violation is "path:line: message".
using Violations = std::vector<std::string>;

inline std::string At(const std::string& path, int line, const std::string& what) {
  return path + ":" + std::to_string(line) + ": " + what;
}

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_VIOLATIONS_H_
