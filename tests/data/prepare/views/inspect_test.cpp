#include "data/prepare/views/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/documents/json_line.h"
#include "tests/data/compressed_text.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

absl::StatusOr<InspectResult> Inspect(const TextDirectory& directory, int jobs = 2,
                                      const std::string& field = "text") {
  InspectOptions options;
  options.inputs = {directory / "in"};
  options.jobs = jobs;
  options.field = field;
  Progress progress = QuietProgress();
  return InspectFiles(options, &progress, kNeverCancelled);
}

TEST(InspectTest, CountsFilesDocumentsAndLengths) {
  const TextDirectory directory;
  directory.Write("in/a.txt", std::string(100, 'a'));
  directory.Write("in/b.md", std::string(3000000, 'b'));
  directory.Write("in/c.jsonl.gz", Gzip("{\"text\": \"12345\"}\n{\"text\": \"\"}\n"));
  directory.Write("in/d.pod", "=head1 NAME\n\npod\n");
  const auto result = Inspect(directory);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->kinds.size(), 3u);
  EXPECT_EQ(result->kinds[0].kind, "text");
  EXPECT_EQ(result->kinds[0].files, 2);
  EXPECT_EQ(result->kinds[0].bytes, 3000100);
  EXPECT_EQ(result->kinds[1].kind, "pod");
  EXPECT_EQ(result->kinds[2].kind, "jsonl");
  EXPECT_EQ(result->kinds[2].compression, "gzip");
  EXPECT_EQ(result->documents, 4);
  EXPECT_EQ(result->empty, 1);
  EXPECT_EQ(result->lines, 2);
  EXPECT_EQ(result->bad, 0);
  EXPECT_EQ(result->max, 3000000);
  EXPECT_EQ(result->p90, 2998272);  // in steps of 2^14
  EXPECT_LT(result->p50, 100);
  EXPECT_THAT(InspectText(*result), HasSubstr("files        2 text, 3.0 MB\n"));
  EXPECT_THAT(InspectText(*result), HasSubstr("1 jsonl (gzip), "));
  EXPECT_THAT(InspectText(*result), HasSubstr("documents    4 with text, 1 empty\n"));
}

int64_t CountOf(const FieldSummary& field, JsonType type) {
  return field.types[static_cast<size_t>(type)];
}

TEST(InspectTest, CountsFieldsAndBadLines) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl",
                  "{\"text\": \"one\", \"id\": 1, \"tags\": [], \"meta\": {\"deep\": 1}}\n"
                  "{\"text\": \"two\", \"id\": \"x\", \"ok\": true}\n"
                  "{\"text\": null, \"id\": 123456789012345678901234567890}\n"
                  "{\"body\": \"three\"}\n"
                  "not JSON\n");
  const auto result = Inspect(directory);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->documents, 2);
  EXPECT_EQ(result->lines, 5);
  EXPECT_EQ(result->bad, 3);
  EXPECT_THAT(result->bad_kinds,
              ElementsAre(Pair("not_json", 1), Pair("field_missing", 1), Pair("field_null", 1)));
  ASSERT_EQ(result->bad_lines.size(), 3u);
  EXPECT_EQ(result->bad_lines[0].line, 3);
  EXPECT_EQ(result->bad_lines[0].cause, "field \"text\" is null");
  EXPECT_EQ(result->bad_lines[2].kind, "not_json");
  ASSERT_EQ(result->fields.size(), 6u);
  EXPECT_EQ(result->fields[0].key, "id");
  EXPECT_EQ(result->fields[0].count, 3);
  EXPECT_EQ(CountOf(result->fields[0], JsonType::kNumber), 2);
  EXPECT_EQ(CountOf(result->fields[0], JsonType::kString), 1);
  EXPECT_EQ(result->fields[1].key, "text");
  EXPECT_EQ(CountOf(result->fields[1], JsonType::kNull), 1);
  const std::string text = InspectText(*result);
  EXPECT_THAT(text, HasSubstr("lines        5 of JSON, 3 bad (60.0 %): 1 not_json, "));
  EXPECT_THAT(text, HasSubstr("in/a.jsonl:3: field \"text\" is null\n"));
  EXPECT_THAT(text, HasSubstr("fields       \"id\": 3 (60.0 %), string 1, number 2\n"));
  EXPECT_THAT(text, HasSubstr("             \"meta\": 1 (20.0 %), object\n"));
  EXPECT_THAT(text, HasSubstr("--bad-fraction FRACTION\n"));
  EXPECT_THAT(text, Not(HasSubstr("deep")));
  const nlohmann::json json = nlohmann::json::parse(InspectJson(*result));
  EXPECT_EQ(json["bad_kinds"]["field_null"], 1);
  EXPECT_EQ(json["bad_lines"][0]["line"], 3);
  EXPECT_EQ(json["fields"][0], nlohmann::json::parse(R"({"key": "id", "count": 3,
                                   "types": {"string": 1, "number": 2}})"));
  EXPECT_EQ(json["lengths"]["max"], 3);
  EXPECT_EQ(json["files"][0]["kind"], "jsonl");
}

// With a wrong --field there are no documents, but the list of fields.
TEST(InspectTest, AWrongFieldShowsTheOthers) {
  const TextDirectory directory;
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "{\"content\": \"text\"}\n";
  directory.Write("in/a.jsonl", lines);
  const auto result = Inspect(directory);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->bad, 500);
  EXPECT_EQ(result->bad_lines.size(), 10u);
  EXPECT_THAT(InspectText(*result), HasSubstr("\"content\": 500 (100.0 %), string\n"));
  EXPECT_THAT(InspectText(*result), HasSubstr("next         no text was found; pass the name"));
  EXPECT_EQ(Inspect(directory, 2, "content")->documents, 500);
}

TEST(InspectTest, TheNumberOfFieldsIsBounded) {
  const TextDirectory directory;
  std::string lines;
  for (int i = 0; i < 1500; ++i) {
    lines += "{\"text\": \"x\", \"key" + std::to_string(i) + "\": 1, \"" + std::string(199, 'k') +
             "\xC3\xA9\": 2}\n";
  }
  directory.Write("in/a.jsonl", lines);
  const auto result = Inspect(directory);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->fields.size(), 1000u);
  EXPECT_EQ(result->other_fields, 502);
  EXPECT_THAT(result->fields[0].key, std::string(199, 'k')) << "cut between characters";
  EXPECT_EQ(result->fields[0].count, 1500);
  EXPECT_THAT(InspectText(*result), HasSubstr("and others; -o json lists up to 1,000\n"));
}

TEST(InspectTest, TheNumberOfThreadsChangesNothing) {
  const TextDirectory directory;
  std::string lines;
  for (uint64_t i = 0; i < 9000; ++i) {
    lines += nlohmann::json({{"text", Prose(i % 700, i)}, {"n" + std::to_string(i % 5), i}}).dump();
    lines += i % 1000 == 3 ? "]\n" : "\n";
  }
  directory.Write("in/a.jsonl", lines);
  directory.Write("in/b.txt", Prose(2500000, 1));
  const auto one = Inspect(directory, 1);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->sample.size(), 3u);
  EXPECT_EQ(one->bad, 9);
  for (const int jobs : {2, 7}) {
    const auto result = Inspect(directory, jobs);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(InspectJson(*result), InspectJson(*one));
  }
}

// The sample has different documents, also if most are equal, and only their first characters.
TEST(InspectTest, SamplesDocuments) {
  const TextDirectory directory;
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "{\"text\": \"same\"}\n";
  lines += "{\"text\": \"line\\nend\"}\n";
  directory.Write("in/a.jsonl", lines);
  directory.Write("in/b.txt", std::string(239, 'x') + "\xC3\xA9 and more");
  const auto result = Inspect(directory);
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<std::string> texts;
  for (const SampleDocument& document : result->sample) texts.push_back(document.text);
  EXPECT_THAT(texts, ElementsAre("same", "line\nend", std::string(239, 'x')));
  EXPECT_THAT(InspectText(*result), HasSubstr("sample       \"line\\nend\"\n"));
}

TEST(InspectTest, PlainTextThatIsNotUtf8IsAnError) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "\xFF");
  EXPECT_THAT(std::string(Inspect(directory).status().message()), HasSubstr("a.txt: not UTF-8"));
}

}  // namespace
}  // namespace trainyard::data
