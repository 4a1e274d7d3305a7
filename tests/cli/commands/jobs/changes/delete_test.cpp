#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DeleteTest : public CliFixture {
 protected:
  DeleteTest() {
    v1::DeleteJobResponse& answer = answers().deletions["17"];
    answer.set_job_id(17);
    answer.set_name("tiny");
    v1::DeletedData& logs = *answer.add_data();
    logs.set_kind("logs");
    logs.set_bytes(3 << 20);
    v1::KeptCheckpoint& kept = *answer.add_kept();
    kept.set_path("/ckpt/17-tiny/step-5");
    kept.set_reason("job 18 uses the same directory");
  }
};

TEST_F(DeleteTest, ShowsWhatWouldGoAndDeletesNothing) {
  const CliResult result = Run({"delete", "17"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "job 17 tiny would be deleted\n"
            "  logs  3.0 MiB\n"
            "  leaves   /ckpt/17-tiny/step-5: job 18 uses the same directory\n");
  EXPECT_THAT(result.err, HasSubstr("add --yes"));
  ASSERT_EQ(answers().delete_requests.size(), 1u);
  EXPECT_FALSE(answers().delete_requests[0].confirmed());
  EXPECT_FALSE(answers().delete_requests[0].checkpoints());
}

TEST_F(DeleteTest, ShowsRealPathsSizesAndLinks) {
  v1::DeleteJobResponse& answer = answers().deletions["17"];
  for (const char* path :
       {"/ckpt/17-tiny/step-1", "/ckpt/17-tiny/step-2", "/ckpt/17-tiny/step-3"}) {
    answer.add_checkpoints(path);
  }
  v1::RemovableCheckpoint& first = *answer.add_removable();
  first.set_real_path("/disk7/ckpt/17-tiny/step-1");
  first.set_bytes(3 << 20);
  first.set_entries(1);
  v1::RemovableCheckpoint& link = *answer.add_removable();
  link.set_real_path("/disk7/ckpt/17-tiny/step-2");
  link.set_link_target("/ckpt/9-live/step-2");
  v1::RemovableCheckpoint& large = *answer.add_removable();
  large.set_real_path("/disk7/ckpt/17-tiny/step-3");
  large.set_bytes(5 << 20);
  large.set_entries(100'000);
  large.set_more(true);
  EXPECT_THAT(Run({"delete", "17", "--checkpoints"}).out,
              HasSubstr("  removes  /disk7/ckpt/17-tiny/step-1  3.0 MiB in 1 entry\n"
                        "  removes  the link /disk7/ckpt/17-tiny/step-2; the target of the link, "
                        "/ckpt/9-live/step-2, is kept\n"
                        "  removes  /disk7/ckpt/17-tiny/step-3  more than 5.0 MiB in 100000 "
                        "entries\n"));
}

TEST_F(DeleteTest, DeletesWithYes) {
  const CliResult result = Run({"delete", "17", "--yes", "--checkpoints"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("job 17 tiny deleted\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("--yes")));
  EXPECT_TRUE(answers().delete_requests[0].confirmed());
  EXPECT_TRUE(answers().delete_requests[0].checkpoints());
  EXPECT_EQ(answers().delete_requests[0].user(), "ada");
}

TEST_F(DeleteTest, GoesOnAfterAJobThatCannotGo) {
  const CliResult result = Run({"delete", "16", "17", "-y"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("there is no job"));
  EXPECT_THAT(result.out, HasSubstr("job 17 tiny deleted"));
}

TEST_F(DeleteTest, AMistypedReferenceDeletesNothing) {
  EXPECT_NE(Run({"delete", "17", "17/2", "-y"}).exit_code, 0);
  EXPECT_THAT(answers().delete_requests, IsEmpty());
}

TEST_F(DeleteTest, PrintsOneDocumentAJobAsJson) {
  const CliResult result = Run({"delete", "17", "-o", "json"});
  EXPECT_THAT(result.out, HasSubstr("\"deleted\":false"));
  EXPECT_THAT(result.out, HasSubstr("\"kind\":\"logs\""));
}

}  // namespace
}  // namespace trainyard::cli
