#include "proto/rules/named_setting.h"

#include <algorithm>

namespace trainyard {
namespace {

// Returns advice such as "set `layout.tp` to 3 or 6", where `part` is layout.tp. The advice names
// the divisors of `whole` that are nearest to the value of `part`: one below and, if there is one,
// one above.
std::string NearestThatDivide(int64_t whole, const Named& part) {
  int64_t below = std::min(part.value, whole), above = part.value;
  while (whole % below != 0) --below;
  while (above <= whole && whole % above != 0) ++above;
  const std::string larger = above <= whole ? " or " + std::to_string(above) : "";
  return "set " + Quoted(part.key) + " to " + std::to_string(below) + larger;
}

}  // namespace

void CheckMultiple(const Named& whole, const Named& part, std::vector<SettingProblem>& problems) {
  if (part.value <= 0 || whole.value <= 0 || whole.value % part.value == 0) return;
  problems.push_back({whole.key, whole.Text() + " must be a multiple of " + part.Text()});
}

void CheckDivides(const std::string& whole_text, int64_t whole, const Named& part,
                  std::vector<SettingProblem>& problems) {
  if (part.value <= 0 || whole <= 0 || whole % part.value == 0) return;
  problems.push_back({part.key, whole_text + " must be a multiple of " + part.Text() + "; " +
                                    NearestThatDivide(whole, part)});
}

}  // namespace trainyard
