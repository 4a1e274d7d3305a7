// Scheduling settings that a job file must not have. Each is refused with one line.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct BadLines {
  std::string lines;    // Lines of the job file, after those of kCommandJob.
  std::string message;  // Part of the message.
};

constexpr char kNodesForm[] =
    "`resources.nodes` must be a number, or a range such as 2..8 whose first number is at least 1 "
    "and not above the second";

const std::vector<BadLines>& BadSettings() {
  static const std::vector<BadLines> kLines = {
      {"priority: .nan", R"(`priority` must be a whole number, got ".nan")"},
      {"priority: 1.5", R"(`priority` must be a whole number, got "1.5")"},
      {"priority: 1001", "`priority` must be at most 1000, got 1001"},
      {"priority: -1001", "`priority` must be at least -1000, got -1001"},
      {"priority: 99999999999999999999", "`priority` is too large"},
      {"queue: Night Shift", R"(`queue` is "Night Shift"; it must match)"},
      {"time_limit: 0", "`time_limit` must be at least 1s, got 0s"},
      {"time_limit: 3650d", "`time_limit` must be at most 31536000s, got 315360000s"},
      {"time_limit: -1h", R"(such as 30s, 5m, 1h30m or 2d, got "-1h")"},
      {"time_limit: .nan", R"(such as 30s, 5m, 1h30m or 2d, got ".nan")"},
      {"after: [hello]", "names this job, and a job cannot wait for itself"},
      {"after: [\"a:checkpoint:-1\"]", R"("-1" is not a step)"},
      {"after: [\"a:started\"]", "started"},
      {"matrix: {env.SEED: 1..1000000000}", "describes more than 1000000 elements"},
      {"matrix: {env.SEED: {from: 1, to: 1000000000}}", "describes more than 1000000 elements"},
      {"matrix: {env.A: 1..1000, env.B: 1..1000, env.C: 1..1000}", "more than 1000000 elements"},
      {"matrix: {env.A: []}", "`matrix.env.A` has no values"},
      {"matrix: {env.A: 8..2}", "is a range from 8 to 2, which is empty"},
      {"matrix: {env.A: \"1..9:0\"}", "has the step 0, so its range would not end"},
      {"matrix: {priority: [1, 2]}", "`priority` cannot be in `matrix`"},
      {"matrix: {env.A: 1..5}\nmax_concurrent: 0", "`max_concurrent` must be at least 1, got 0"},
      {"matrix: {env.A: 1..5}\nmax_concurrent: -1", "`max_concurrent` must be at least 1, got -1"},
      {"max_concurrent: 5", "`max_concurrent` limits the elements of an array; add `matrix`"},
      {"matrix: {env.A: 1..5}\nhalving: {at_step: [10]}",
       "`halving.metric` is missing; set loss or validation_loss"},
      {"matrix: {env.A: 1..5}\nhalving: {metric: accuracy, at_step: [10]}",
       R"(`halving.metric` is "accuracy"; it must match loss|validation_loss)"},
      {"matrix: {env.A: 1..5}\nhalving: {metric: loss}", "`halving.at_step` is missing"},
      {"matrix: {env.A: 1..5}\nhalving: {metric: loss, at_step: [10, 5]}",
       "`halving.at_step` must ascend, but 5 does not exceed 10"},
      {"matrix: {env.A: 1..5}\nhalving: {metric: loss, at_step: [10], keep: .nan}",
       R"(`halving.keep` must be a number such as 0.1 or 3e-4, got ".nan")"},
      {"matrix: {env.A: 1..5}\nhalving: {metric: loss, at_step: [10], keep: 0}",
       "`halving.keep` must be at least 0.001, got 0"},
      {"halving: {metric: loss, at_step: [10]}", "compares the elements of an array; add `matrix`"},
      {"resources: {nodes: 8..2}", kNodesForm},
      {"resources: {nodes: 0..4}", kNodesForm},
      {"resources: {nodes: 2..x}", kNodesForm},
      {"resources: {nodes: .nan}", R"(`resources.nodes` must be a whole number, got ".nan")"},
      {"resources: {nodes: 0}", "`resources.nodes` must be at least 1, got 0"},
      {"resources: {nodes: -1}", "`resources.nodes` must be at least 1, got -1"},
      {"resources: {nodes: 2..99999999}", "`resources.nodes` must be at most 16384"},
      {"placement: {nodes: [\"gpu[5-1]\"]}", "`5-1` is not a number or an ascending range"},
      {"placement: {nodes: [\"gpu[1-99999999]\"]}", "to more than 20000 names; shorten the list"},
      {"placement: {within: \"\"}", R"(`placement.within` is ""; it must match)"},
  };
  return kLines;
}

TEST(BadSchedulingSettingsTest, EachIsRefusedWithOneLine) {
  for (const BadLines& bad : BadSettings()) {
    EXPECT_THAT(Errors(absl::StrCat(kCommandJob, bad.lines, "\n")),
                ElementsAre(HasSubstr(bad.message)))
        << bad.lines;
  }
}

}  // namespace
}  // namespace trainyard
