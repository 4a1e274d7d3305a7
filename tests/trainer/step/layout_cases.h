// Layouts whose results tests compare with those of one process.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_CASES_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_CASES_H_

#include <functional>
#include <ostream>
#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

struct LayoutCase {
  const char* name;
  std::function<void(RunConfig&)> edit;  // Edits SmallRun().
  bool masked = false;
};

inline void PrintTo(const LayoutCase& layout, std::ostream* out) { *out << layout.name; }

std::vector<LayoutCase> LayoutCases();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_CASES_H_
