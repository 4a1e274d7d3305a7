#include "controller/core/apply/job_notes.h"

#include <string>

#include "controller/core/archive.h"
#include "controller/core/event_log/snapshot.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class JobNotesTest : public testing::Test {
 protected:
  JobNotesTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
  }

  void Write(const std::string& text, int64_t step) {
    WriteNote note;
    note.request.set_job("job");
    note.request.set_text(text);
    note.request.set_step(step);
    note.principal = {"ada", Verification::kPeerCredentials};
    cluster_.Do(note);
  }
  void Delete(int64_t number) {
    DeleteNote deletion;
    deletion.request.set_job("job");
    deletion.request.set_note(number);
    deletion.principal = {"ada"};
    cluster_.Do(deletion);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(JobNotesTest, ANoteHasItsWriterItsTimeAndItsStep) {
  cluster_.now += 5000;
  Write("lr halved", 900);
  ASSERT_EQ(cluster_.Job(job_).notes_size(), 1);
  const v1::Note& note = cluster_.Job(job_).notes(0);
  EXPECT_EQ(note.id(), 1);
  EXPECT_EQ(note.step(), 900);
  EXPECT_EQ(note.text(), "lr halved");
  EXPECT_EQ(note.actor(), "user ada");
  EXPECT_TRUE(note.actor_verified());
  EXPECT_EQ(note.time_ms(), cluster_.now);
}

TEST_F(JobNotesTest, TheNumberOfADeletedNoteIsNotUsedAgain) {
  Write("first", 1);
  Write("second", 2);
  Delete(2);
  Write("third", 3);
  ASSERT_EQ(cluster_.Job(job_).notes_size(), 2);
  EXPECT_EQ(cluster_.Job(job_).notes(1).id(), 3);
}

TEST_F(JobNotesTest, SnapshotAndArchiveKeepNotes) {
  Write("first", 1);
  Write("second", 2);
  Delete(2);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
  const JobEntry archived =
      FromArchived(ToArchived(cluster_.state.jobs.at(job_), cluster_.observations, cluster_.now));
  ASSERT_EQ(archived.job.notes_size(), 1);
  EXPECT_EQ(archived.job.notes(0).text(), "first");
  EXPECT_EQ(archived.job.notes_written(), 2);
}

TEST_F(JobNotesTest, AClockStepMovesTheTimeOfANote) {
  Write("first", 1);
  const Timestamp written = cluster_.Job(job_).notes(0).time_ms();
  cluster_.StepClock(60'000);
  EXPECT_EQ(cluster_.Job(job_).notes(0).time_ms(), written + 60'000);
}

}  // namespace
}  // namespace trainyard::controller
