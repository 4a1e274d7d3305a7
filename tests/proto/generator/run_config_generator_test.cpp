#include "proto/generator/run_config_generator.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/generator/reader_generator.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string TextOf(const std::string& name) {
  for (const GeneratedFile& header : GenerateRunConfig()) {
    if (header.path == "proto/contract/" + name) return header.text;
  }
  return "";
}

void ExpectCommitted(const GeneratedFile& generated) {
  std::ifstream file(std::string(SOURCE_ROOT) + "/" + generated.path, std::ios::binary);
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(committed.str(), generated.text)
      << generated.path << " is stale: run `ninja renew_run_config` and commit it";
}

TEST(RunConfigGeneratorTest, TheCommittedHeadersAreCurrent) {
  for (const GeneratedFile& header : GenerateRunConfig()) ExpectCommitted(header);
}

TEST(ReaderGeneratorTest, TheCommittedReadersAreCurrent) {
  ExpectCommitted(GenerateSectionReaders());
}

TEST(ReaderGeneratorTest, ReadsWhatIsWritten) {
  const std::string text = GenerateSectionReaders().text;
  EXPECT_THAT(text, testing::HasSubstr(
                        "  if (spec.has_num_layers()) config.num_layers = spec.num_layers();\n"));
  EXPECT_THAT(text, testing::HasSubstr("static_cast<Precision>(spec.precision())"));
  EXPECT_THAT(text, testing::HasSubstr("config.blend.assign(spec.blend().begin(), "));
}

// Readers copy only the fields that are set in the file. A field without presence cannot show
// whether it is set.
TEST(ReaderGeneratorTest, EverySettingShowsWhetherItIsWritten) {
  for (const FieldDescriptor* section : SectionFields()) {
    for (int i = 0; i < section->message_type()->field_count(); ++i) {
      const FieldDescriptor& field = *section->message_type()->field(i);
      EXPECT_TRUE(field.is_repeated() || field.has_presence()) << field.full_name();
    }
  }
}

TEST(RunConfigGeneratorTest, WritesStructVisitorAndNames) {
  EXPECT_THAT(TextOf("model_config.h"), testing::HasSubstr("  int64_t num_layers = 0;\n"));
  EXPECT_THAT(TextOf("data_config.h"), testing::HasSubstr("  std::string path;\n"));
  EXPECT_THAT(TextOf("data_config.h"), testing::HasSubstr("  std::vector<std::string> blend;\n"));
  EXPECT_THAT(TextOf("layout_config.h"),
              testing::HasSubstr("visit(\"zero\", SettingRule{.min = 0, .max = 3, "
                                 ".has_default = true}, config.zero);"));
  const std::string train = TextOf("train_config.h");
  EXPECT_THAT(train, testing::HasSubstr("  Precision precision = Precision::kBf16;\n"));
  EXPECT_THAT(train, testing::HasSubstr("{\"bf16\", Precision::kBf16}"));
}

TEST(RunConfigGeneratorTest, TheRunIncludesEachSection) {
  const std::string run = TextOf("run_config.h");
  EXPECT_THAT(run, testing::HasSubstr("#include \"proto/contract/model_config.h\"\n"));
  EXPECT_THAT(run, testing::HasSubstr("  ModelConfig model;\n"));
  EXPECT_THAT(run, testing::Not(testing::HasSubstr("RestartConfig")));
  EXPECT_EQ(TextOf("restart_config.h"), "");
}

TEST(RunConfigGeneratorTest, DeclaresAnEnumInTheFirstSectionThatUsesIt) {
  const std::string declaration = "enum class Precision";
  EXPECT_THAT(TextOf("train_config.h"), testing::HasSubstr(declaration));
  EXPECT_THAT(TextOf("optimizer_config.h"), testing::Not(testing::HasSubstr(declaration)));
  EXPECT_THAT(TextOf("optimizer_config.h"),
              testing::HasSubstr("#include \"proto/contract/train_config.h\"\n"));
}

// Checks the settings of a section that have no default. In RunConfig, an unset number without a
// default is 0, so 0 must not be a valid value. A bool without a default is a std::optional.
void ExpectZeroMeansNotWritten(const Descriptor& section) {
  for (int i = 0; i < section.field_count(); ++i) {
    const FieldDescriptor& field = *section.field(i);
    const v1::FieldRule& rule = RuleOf(field);
    const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    EXPECT_TRUE(is_text || !field.is_repeated()) << field.full_name() << ": lists are of text";
    const bool is_optional = field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    if (is_text || is_optional || !rule.default_value().empty()) continue;
    EXPECT_TRUE(rule.has_min() && rule.min() > 0) << field.full_name();
  }
}

TEST(RunConfigGeneratorTest, EverySettingCanBeLeftOut) {
  const Descriptor& spec = *v1::JobSpec::descriptor();
  for (int i = 0; i < spec.field_count(); ++i) {
    const Descriptor* section = spec.field(i)->message_type();
    if (section != nullptr && section->options().GetExtension(v1::read_by_trainer)) {
      ExpectZeroMeansNotWritten(*section);
    }
  }
}

}  // namespace
}  // namespace trainyard
