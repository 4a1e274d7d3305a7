#include "cli/convert/batch_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Option {
  std::string name;
  std::string value;
};

JobDraft DraftOf(const std::vector<Option>& options) {
  JobDraft draft;
  BatchTime time(draft);
  for (const Option& option : options) {
    EXPECT_TRUE(time.Take(option.name, option.value, "--" + option.name, 3));
  }
  time.Finish();
  return draft;
}

TEST(BatchTimeTest, ReadsEachFormOfATime) {
  EXPECT_EQ(SlurmSeconds("90"), 5400);
  EXPECT_EQ(SlurmSeconds("90:30"), 5430);
  EXPECT_EQ(SlurmSeconds("12:00:05"), 43'205);
  EXPECT_EQ(SlurmSeconds("2-12"), 216'000);
  EXPECT_EQ(SlurmSeconds("2-12:30"), 217'800);
  EXPECT_EQ(SlurmSeconds("2-12:30:01"), 217'801);
  for (const char* wrong : {"", "soon", "1:2:3:4", "-5", "1-", "3650-0", "1-2-3", "99999999999"}) {
    EXPECT_EQ(SlurmSeconds(wrong), std::nullopt) << wrong;
  }
}

TEST(BatchTimeTest, ALimitHasNoWarningByDefault) {
  const JobDraft draft = DraftOf({{"time", "12:00:00"}, {"requeue", ""}});
  EXPECT_EQ(draft.Value("time_limit"), "12h");
  EXPECT_FALSE(draft.Has("time_limit_signal"));
  EXPECT_FALSE(draft.Has("at_time_limit")) << "SLURM ends such a job at its limit";
  EXPECT_THAT(draft.Notes(), IsEmpty());
}

TEST(BatchTimeTest, AWarningWithRequeueQueuesTheJobAgain) {
  const JobDraft draft = DraftOf({{"signal", "B:SIGUSR1@600"}, {"time", "60"}, {"requeue", ""}});
  EXPECT_EQ(draft.Value("time_limit"), "1h");
  EXPECT_EQ(draft.Value("time_limit_signal"), "USR1");
  EXPECT_EQ(draft.Value("time_limit_warning"), "10m");
  EXPECT_EQ(draft.Value("at_time_limit"), "requeue");
}

TEST(BatchTimeTest, TheWarningTimeIsOptional) {
  const JobDraft draft = DraftOf({{"time", "60"}, {"signal", "12"}});
  EXPECT_EQ(draft.Value("time_limit_signal"), "USR2");
  EXPECT_FALSE(draft.Has("time_limit_warning"));
}

TEST(BatchTimeTest, AnEarlySigtermBecomesTimeToSave) {
  const JobDraft draft = DraftOf({{"time", "60"}, {"signal", "TERM@120"}});
  EXPECT_EQ(draft.Value("stop_grace"), "2m");
  EXPECT_FALSE(draft.Has("time_limit_signal"));
}

TEST(BatchTimeTest, NotesWhatItCannotKeep) {
  EXPECT_THAT(DraftOf({{"time", "60"}, {"signal", "INT@60"}}).Notes(),
              ElementsAre(HasSubstr("a warning can use only USR1 or USR2")));
  EXPECT_THAT(DraftOf({{"signal", "USR1@60"}}).Notes(),
              ElementsAre(HasSubstr("the script has no --time")));
  EXPECT_THAT(DraftOf({{"time", "$TIME"}}).Notes(), ElementsAre(HasSubstr("set time_limit")));
  EXPECT_THAT(DraftOf({{"time", "UNLIMITED"}}).Notes(), IsEmpty());
}

TEST(BatchTimeTest, LeavesOtherOptionsToTheCaller) {
  JobDraft draft;
  EXPECT_FALSE(BatchTime(draft).Take("nodes", "4", "--nodes=4", 1));
}

}  // namespace
}  // namespace trainyard::cli
