#include "proto/jobspec/fields/schema.h"

#include <set>
#include <string>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Checks that every field and every section has documentation, and that every default is a valid
// value of its field.
void CheckSection(const Descriptor& descriptor) {
  EXPECT_FALSE(descriptor.options().GetExtension(v1::section_doc).empty()) << descriptor.name();
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&descriptor);
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const auto& field = *descriptor.field(i);
    if (field.message_type() != nullptr && !field.is_map() && !IsDuration(field)) {
      CheckSection(*field.message_type());
      continue;
    }
    EXPECT_FALSE(RuleOf(field).doc().empty()) << field.full_name();
    if (RuleOf(field).default_value().empty()) continue;
    std::unique_ptr<google::protobuf::Message> message(prototype->New());
    EXPECT_TRUE(SetScalarField(RuleOf(field).default_value(), field, *message).ok())
        << field.full_name();
  }
}

TEST(JobSpecSchemaTest, EveryFieldIsDocumentedAndEveryDefaultIsReadable) {
  CheckSection(*v1::JobSpec::descriptor());
}

TEST(JobSpecSchemaTest, EverySettingOfTheTrainerHasASource) {
  const Descriptor& spec = *v1::JobSpec::descriptor();
  for (int i = 0; i < spec.field_count(); ++i) {
    const Descriptor* section = spec.field(i)->message_type();
    if (section == nullptr || !section->options().GetExtension(v1::read_by_trainer)) continue;
    for (int j = 0; j < section->field_count(); ++j) {
      const v1::FieldRule& rule = RuleOf(*section->field(j));
      EXPECT_TRUE(rule.other_programs() || !rule.source().empty())
          << section->field(j)->full_name();
    }
  }
}

TEST(JobSpecSchemaTest, SchemaDescribesNestedKeysAndRefusesOthers) {
  const nlohmann::json schema = JobFileSchema();
  EXPECT_EQ(schema["additionalProperties"], false);
  const nlohmann::json& lr = schema["properties"]["optimizer"]["properties"]["lr"];
  EXPECT_EQ(lr["default"], "3e-4");
  EXPECT_EQ(lr["maximum"], 100);
  EXPECT_THAT(schema["properties"]["train"]["properties"]["precision"]["enum"], Contains("bf16"));
}

TEST(JobSpecSchemaTest, TheMatrixHasListsAndRangesAndTheEnvironmentHasTexts) {
  const nlohmann::json properties = JobFileSchema()["properties"];
  const auto types = [&](const char* key) {
    return properties[key]["additionalProperties"]["type"].get<std::set<std::string>>();
  };
  EXPECT_EQ(types("matrix"), (std::set<std::string>{"array", "null", "object", "string"}));
  EXPECT_EQ(types("env"), (std::set<std::string>{"boolean", "null", "number", "string"}));
}

TEST(JobSpecSchemaTest, TheLogParserIsASectionOrOneWord) {
  const nlohmann::json parser = JobFileSchema()["properties"]["log_parser"]["anyOf"];
  ASSERT_EQ(parser.size(), 2U);
  EXPECT_TRUE(parser[0]["properties"].contains("rank"));
  EXPECT_THAT(parser[1]["enum"], testing::Contains("nanogpt"));
}

TEST(JobSpecSchemaTest, ExplainsSectionsAndFields) {
  EXPECT_THAT(*ExplainJobFileKey(""), HasSubstr("optimizer"));
  EXPECT_THAT(*ExplainJobFileKey("train"), HasSubstr("seq_length"));
  EXPECT_THAT(*ExplainJobFileKey("optimizer.lr"), HasSubstr("Default: 3e-4"));
  EXPECT_THAT(*ExplainJobFileKey("model.rotary_base"),
              HasSubstr("  Source: Megatron-LM --rotary-base; RoPE, arXiv 2104.09864\n"));
  const std::string row = *ExplainJobFileKey("model");
  const std::size_t begin = row.find("\n  rotary_base ") + 1;
  const std::string column(row.find("Base of the rotary") - begin, ' ');
  EXPECT_THAT(row, HasSubstr("Base of the rotary frequencies. (default 10000)\n" + column +
                             "Source: Megatron-LM --rotary-base; RoPE, arXiv 2104.09864\n"));
  EXPECT_THAT(ExplainJobFileKey("optimizer.leraning_rate").status().message(),
              HasSubstr("no key `optimizer.leraning_rate`"));
  EXPECT_THAT(ExplainJobFileKey("trian").status().message(), HasSubstr("did you mean `train`?"));
  EXPECT_FALSE(ExplainJobFileKey("name.x").ok());
}

TEST(JobSpecSchemaTest, ExplanationsStayWithin100Columns) {
  std::vector<std::string> keys = JobFileKeys();
  for (const std::string& key : JobFileKeys()) {
    if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
      keys.push_back(key.substr(0, dot));
    }
  }
  keys.push_back("");
  for (const std::string& key : keys) {
    const std::vector<std::string> lines = absl::StrSplit(*ExplainJobFileKey(key), '\n');
    for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << key << ": " << line;
  }
}

TEST(JobSpecSchemaTest, KeysAreWhatSetAccepts) {
  EXPECT_THAT(JobFileKeys(), Contains("train.steps"));
  EXPECT_THAT(JobFileKeys(), Not(Contains("train")));
  EXPECT_THAT(JobFileKeys(), Not(Contains("extends")));
}

TEST(JobSpecSchemaTest, NearestNameKeepsItsDistance) {
  EXPECT_EQ(NearestName("stpes", {"steps", "tokens"}), "steps");
  EXPECT_EQ(NearestName("completely", {"steps", "tokens"}), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), {"steps"}), "");
}

}  // namespace
}  // namespace trainyard
