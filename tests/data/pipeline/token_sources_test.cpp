#include "data/pipeline/token_sources.h"

#include <gtest/gtest.h>

#include "data/input/input_files.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

EncodedPart DocumentOf(int64_t bytes, size_t packed_bytes) {
  EncodedPart part;
  part.source_bytes = bytes;
  part.packed_bytes = packed_bytes;
  return part;
}

// A block with a document of code/ and two of web/. A token has 2 bytes.
TEST(TokenSourcesTest, AddsUpTheDocumentsOfEachDirectory) {
  const TextDirectory files;
  files.Write("code/a.jsonl", "{\"text\": \"a\"}\n");
  files.Write("web/b.jsonl", "{\"text\": \"b\"}\n{\"text\": \"c\"}\n");
  const auto inputs = FindInputFiles({files / "code", files / "web"});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  const auto plan = Plan::Make(*inputs, {}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->blocks().size(), 1u);
  BlockRecord record;
  record.counts.files = {{0, 1, 1}, {1, 2, 2}};
  TokenSources sources(2);
  sources.BeginBlock(*plan, record);
  sources.Add(DocumentOf(10, 4));
  sources.Add(DocumentOf(20, 6));
  sources.Add(DocumentOf(30, 8));
  const std::vector<SourceTotals> totals = sources.Take();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].directory, files / "code");
  EXPECT_EQ(totals[0].documents, 1);
  EXPECT_EQ(totals[0].bytes, 10);
  EXPECT_EQ(totals[0].tokens, 2);
  EXPECT_EQ(totals[1].directory, files / "web");
  EXPECT_EQ(totals[1].documents, 2);
  EXPECT_EQ(totals[1].bytes, 50);
  EXPECT_EQ(totals[1].tokens, 7);

  sources.Add(DocumentOf(1, 2));
  EXPECT_TRUE(sources.Take().empty()) << "the record does not contain this document";
}

}  // namespace
}  // namespace trainyard::data
