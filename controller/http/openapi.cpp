#include "controller/http/openapi.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "controller/http/routes.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "nlohmann/json.hpp"
#include "proto/json/enum_text.h"
#include "trainyard/v1/field_rule.pb.h"

namespace trainyard::controller::http {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

constexpr char kPackage[] = "trainyard.v1.";

// Returns the comments of a declaration as one paragraph.
template <typename Declaration>
std::string CommentOf(const Declaration& declaration) {
  google::protobuf::SourceLocation location;
  if (!declaration.GetSourceLocation(&location)) return "";
  std::string text = absl::StrCat(location.leading_comments, location.trailing_comments);
  absl::StrReplaceAll({{"\n", " "}, {"  ", " "}}, &text);
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string FieldDoc(const FieldDescriptor& field) {
  const v1::FieldRule& rule = field.options().GetExtension(v1::rule);
  std::string doc = rule.doc().empty() ? CommentOf(field) : rule.doc();
  if (!rule.default_value().empty()) absl::StrAppend(&doc, " Default: ", rule.default_value(), ".");
  return doc;
}

std::string EnumDoc(const EnumDescriptor& type) {
  std::string doc = CommentOf(type);
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string comment = CommentOf(*type.value(i));
    if (comment.empty()) continue;
    absl::StrAppend(&doc, doc.empty() ? "" : "\n", "- `", EnumShortName(*type.value(i)),
                    "`: ", comment);
  }
  return doc;
}

Json Reference(const std::string& name) {
  return {{"$ref", absl::StrCat("#/components/schemas/", name)}};
}

Json NumberSchema() {
  return {
      {"anyOf",
       {{{"type", "number"}}, {{"type", "string"}, {"enum", {"NaN", "Infinity", "-Infinity"}}}}}};
}

// The schemas of all requested messages and enums, and of the types to which they refer.
class Components {
 public:
  Json MessageReference(const Descriptor& type) {
    if (type.full_name() == "google.protobuf.Duration") {
      return {{"type", "string"}, {"description", "Seconds, such as `90s` or `0.25s`."}};
    }
    if (seen_.insert(type.name()).second) schemas_[type.name()] = MessageSchema(type, {});
    return Reference(type.name());
  }

  // Returns the schema reference for a request body. The schema requires no field, and omits fields
  // whose values come from the path.
  Json RequestReference(const Descriptor& type, std::string_view given_fields) {
    if (seen_.insert(type.name()).second) {
      schemas_[type.name()] = MessageSchema(
          type, absl::StrSplit(absl::string_view(given_fields.data(), given_fields.size()), ','));
    }
    return Reference(type.name());
  }

  Json Take() {
    Json all = Json::object();
    for (auto& [name, schema] : schemas_) all[name] = std::move(schema);
    return all;
  }

 private:
  Json EnumReference(const EnumDescriptor& type) {
    if (seen_.insert(type.name()).second) {
      Json values = Json::array();
      for (int i = 0; i < type.value_count(); ++i) values.push_back(EnumShortName(*type.value(i)));
      schemas_[type.name()] = {
          {"type", "string"}, {"description", EnumDoc(type)}, {"enum", std::move(values)}};
    }
    return Reference(type.name());
  }

  Json ValueSchema(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return {{"type", "integer"}, {"format", "int32"}};
      case FieldDescriptor::CPPTYPE_INT64:
        return {{"type", "integer"}, {"format", "int64"}};
      case FieldDescriptor::CPPTYPE_UINT32:
      case FieldDescriptor::CPPTYPE_UINT64:
        return {{"type", "integer"}, {"format", "uint64"}, {"minimum", 0}};
      case FieldDescriptor::CPPTYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return NumberSchema();
      case FieldDescriptor::CPPTYPE_ENUM:
        return EnumReference(*field.enum_type());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return MessageReference(*field.message_type());
      case FieldDescriptor::CPPTYPE_STRING:
        break;
    }
    if (field.type() != FieldDescriptor::TYPE_BYTES) return {{"type", "string"}};
    return {{"type", "string"}, {"contentEncoding", "base64"}};
  }

  Json FieldSchema(const FieldDescriptor& field) {
    Json schema;
    if (field.is_map()) {
      schema = {{"type", "object"},
                {"additionalProperties", ValueSchema(*field.message_type()->map_value())}};
    } else if (field.is_repeated()) {
      schema = {{"type", "array"}, {"items", ValueSchema(field)}};
    } else {
      schema = ValueSchema(field);
    }
    if (const std::string doc = FieldDoc(field); !doc.empty()) schema["description"] = doc;
    return schema;
  }

  Json MessageSchema(const Descriptor& type, const std::set<std::string>& left_out) {
    const bool is_request = absl::EndsWith(type.name(), "Request");
    Json properties = Json::object();
    Json required = Json::array();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (left_out.contains(field.name())) continue;
      properties[field.name()] = FieldSchema(field);
      if (!is_request && !field.has_presence()) required.push_back(field.name());
    }
    Json schema = {{"type", "object"}};
    const std::string& section = type.options().GetExtension(v1::section_doc);
    const std::string doc = section.empty() ? CommentOf(type) : section;
    if (!doc.empty()) schema["description"] = doc;
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }

  std::set<std::string> seen_;
  std::map<std::string, Json> schemas_;
};

Json ParameterValueSchema(const Parameter& parameter, const DescriptorPool& pool) {
  switch (parameter.type) {
    case ParameterType::kText:
      return {{"type", "string"}};
    case ParameterType::kBoolean:
      return {{"type", "boolean"}};
    case ParameterType::kInteger:
    case ParameterType::kNumber: {
      const bool integer = parameter.type == ParameterType::kInteger;
      Json schema = {{"type", integer ? "integer" : "number"}};
      if (parameter.min == parameter.max) return schema;
      schema["minimum"] = integer ? Json(static_cast<int64_t>(parameter.min)) : Json(parameter.min);
      schema["maximum"] = integer ? Json(static_cast<int64_t>(parameter.max)) : Json(parameter.max);
      return schema;
    }
    case ParameterType::kEnum:
      break;
  }
  Json values = Json::array();
  if (const auto* type = pool.FindEnumTypeByName(std::string(parameter.values)); type != nullptr) {
    for (int i = 0; i < type->value_count(); ++i) {
      if (type->value(i)->number() != 0) values.push_back(EnumShortName(*type->value(i)));
    }
  } else {
    const absl::string_view words(parameter.values.data(), parameter.values.size());
    for (const auto word : absl::StrSplit(words, ',')) values.push_back(std::string(word));
  }
  return {{"type", "string"}, {"enum", std::move(values)}};
}

Json ParameterObject(const Parameter& parameter, const DescriptorPool& pool) {
  Json value = ParameterValueSchema(parameter, pool);
  Json object = {{"name", parameter.name},
                 {"in", parameter.in_path ? "path" : "query"},
                 {"description", parameter.doc}};
  if (parameter.in_path) object["required"] = true;
  if (parameter.list || parameter.repeated) {
    object["style"] = "form";
    object["explode"] = parameter.repeated;
    value = {{"type", "array"}, {"items", std::move(value)}};
  }
  object["schema"] = std::move(value);
  return object;
}

const Descriptor* FindMessage(const DescriptorPool& pool, std::string_view name) {
  return pool.FindMessageTypeByName(absl::StrCat(kPackage, std::string(name)));
}

Json ResponseContent(const Route& route, const DescriptorPool& pool, Components& components) {
  Json content = Json::object();
  if (!route.response.empty()) {
    Json schema = components.MessageReference(*FindMessage(pool, route.response));
    const bool stream = route.content_type == "text/event-stream";
    content[stream ? "text/event-stream" : "application/json"] = {{"schema", std::move(schema)}};
    if (stream) return content;
  }
  if (!route.content_type.empty()) {
    const bool text = absl::StartsWith(
        absl::string_view(route.content_type.data(), route.content_type.size()), "text/");
    content[std::string(route.content_type)] = {{"schema", {{"type", text ? "string" : "object"}}}};
  }
  return content;
}

Json OperationObject(const Route& route, const DescriptorPool& pool, Components& components) {
  Json operation = {{"operationId", route.id}, {"summary", route.summary}};
  if (!route.command_line.empty()) operation["x-command-line"] = route.command_line;
  if (!route.parameters.empty()) {
    Json parameters = Json::array();
    for (const Parameter& parameter : route.parameters) {
      parameters.push_back(ParameterObject(parameter, pool));
    }
    operation["parameters"] = std::move(parameters);
  }
  if (!route.request.empty()) {
    Json schema =
        components.RequestReference(*FindMessage(pool, route.request), route.given_fields);
    operation["requestBody"] = {{"content", {{"application/json", {{"schema", schema}}}}}};
  }
  operation["responses"] = {
      {"200", {{"description", "OK"}, {"content", ResponseContent(route, pool, components)}}},
      {"default", {{"$ref", "#/components/responses/Problem"}}}};
  return operation;
}

absl::Status CheckMessages(const DescriptorPool& pool) {
  for (const Route& route : Routes()) {
    for (const std::string_view name : {route.request, route.response}) {
      if (name.empty() || FindMessage(pool, name) != nullptr) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(route.id), ": there is no message ", std::string(name)));
    }
  }
  if (FindMessage(pool, "Problem") != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError("there is no message Problem");
}

Json Document(const DescriptorPool& pool) {
  Components components;
  Json paths = Json::object();
  for (const Route& route : Routes()) {
    const std::string method =
        absl::AsciiStrToLower(absl::string_view(route.method.data(), route.method.size()));
    paths[absl::StrCat(std::string(kApiPrefix), std::string(route.path))][method] =
        OperationObject(route, pool, components);
  }
  const Json problem = components.MessageReference(*FindMessage(pool, "Problem"));
  return {{"openapi", "3.1.0"},
          {"info",
           {
               {"title", "Trainyard"},
               {"version", "1"},
               {"summary", "Jobs, nodes, metrics and logs of a Trainyard controller."},
           }},
          {"paths", std::move(paths)},
          {"components",
           {{"responses",
             {{"Problem",
               {{"description", "The request was not carried out."},
                {"content", {{"application/problem+json", {{"schema", problem}}}}}}}}},
            {"schemas", components.Take()}}}};
}

}  // namespace

absl::StatusOr<std::string> RenderOpenApi(const std::string& descriptor_set) {
  google::protobuf::FileDescriptorSet files;
  if (!files.ParseFromString(descriptor_set)) {
    return absl::InvalidArgumentError("the descriptor set is damaged");
  }
  DescriptorPool pool;
  for (const auto& file : files.file()) {
    if (pool.BuildFile(file) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(file.name(), " does not fit"));
    }
  }
  if (const absl::Status status = CheckMessages(pool); !status.ok()) return status;
  return Document(pool).dump(1) + "\n";
}

}  // namespace trainyard::controller::http
