#include "trainer/kernels/gemm/gemm_table.h"

#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "nlohmann/json.hpp"
#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {
namespace {

constexpr char kFloat32[] = "float32";
constexpr char kBFloat16[] = "bfloat16";
constexpr char kFloat16[] = "float16";
constexpr char kFp8E4M3[] = "float8_e4m3";
constexpr char kFp8E5M2[] = "float8_e5m2";

std::string TypeName(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return kFloat32;
    case ElementType::kBFloat16:
      return kBFloat16;
    case ElementType::kFloat16:
      return kFloat16;
    case ElementType::kFp8E4M3:
      return kFp8E4M3;
    case ElementType::kFp8E5M2:
      return kFp8E5M2;
  }
  return "";
}

ElementType ParseType(const std::string& name) {
  if (name == kFloat32) return ElementType::kFloat32;
  if (name == kBFloat16) return ElementType::kBFloat16;
  if (name == kFloat16) return ElementType::kFloat16;
  if (name == kFp8E4M3) return ElementType::kFp8E4M3;
  if (name == kFp8E5M2) return ElementType::kFp8E5M2;
  throw std::runtime_error("unknown element type '" + name + "'");
}

constexpr char kNoEpilogue[] = "none";
constexpr char kGelu[] = "gelu";
constexpr char kGeluGradient[] = "gelu_gradient";

std::string EpilogueName(GemmEpilogue epilogue) {
  switch (epilogue) {
    case GemmEpilogue::kNone:
      return kNoEpilogue;
    case GemmEpilogue::kGelu:
      return kGelu;
    case GemmEpilogue::kGeluGradient:
      return kGeluGradient;
  }
  return "";
}

GemmEpilogue ParseEpilogue(const std::string& name) {
  if (name == kNoEpilogue) return GemmEpilogue::kNone;
  if (name == kGelu) return GemmEpilogue::kGelu;
  if (name == kGeluGradient) return GemmEpilogue::kGeluGradient;
  throw std::runtime_error("unknown epilogue '" + name + "'");
}

nlohmann::json ToJson(const GemmShape& shape) {
  return {{"m", shape.m},
          {"n", shape.n},
          {"k", shape.k},
          {"transpose_a", shape.transpose_a},
          {"transpose_b", shape.transpose_b},
          {"input", TypeName(shape.a_type)},
          {"input_b", TypeName(shape.b_type)},
          {"output", TypeName(shape.output_type)},
          {"has_c", shape.has_c},
          {"c_is_d", shape.c_is_d},
          {"has_bias", shape.has_bias},
          {"epilogue", EpilogueName(shape.epilogue)},
          {"fast_accumulation", shape.fast_accumulation}};
}

// has_bias, epilogue, input_b and fast_accumulation are absent in older tables.
GemmShape ParseShape(const nlohmann::json& json) {
  const std::string a_type = json.at("input");
  return {.m = json.at("m"),
          .n = json.at("n"),
          .k = json.at("k"),
          .transpose_a = json.at("transpose_a"),
          .transpose_b = json.at("transpose_b"),
          .a_type = ParseType(a_type),
          .b_type = ParseType(json.value("input_b", a_type)),
          .output_type = ParseType(json.at("output")),
          .has_c = json.at("has_c"),
          .c_is_d = json.at("c_is_d"),
          .has_bias = json.value("has_bias", false),
          .epilogue = ParseEpilogue(json.value("epilogue", kNoEpilogue)),
          .fast_accumulation = json.value("fast_accumulation", false)};
}

// Returns the algorithm as hexadecimal words, because some JSON parsers do not support 64-bit
// numbers.
nlohmann::json ToJson(const GemmAlgorithm& algorithm) {
  nlohmann::json words = nlohmann::json::array();
  for (const uint64_t word : algorithm) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15];
    words.push_back(text);
  }
  return words;
}

// Formats the table as text with one product per line.
std::string ToLines(const nlohmann::json& table) {
  std::string lines = "{\"device\": " + table["device"].dump() +
                      ", \"cublaslt\": " + table["cublaslt"].dump() + ", \"products\": [";
  std::string separator = "\n";
  for (const nlohmann::json& entry : table["products"]) {
    lines += std::exchange(separator, ",\n") + entry.dump();
  }
  return lines + "\n]}";
}

GemmAlgorithm ParseAlgorithm(const nlohmann::json& json) {
  GemmAlgorithm algorithm{};
  if (json.size() != algorithm.size()) {
    throw std::runtime_error("an algorithm must have eight words");
  }
  for (size_t i = 0; i < algorithm.size(); ++i) {
    algorithm[i] = std::stoull(json.at(i).get<std::string>(), nullptr, 16);
  }
  return algorithm;
}

}  // namespace

size_t GemmShapeHash::operator()(const GemmShape& shape) const {
  // Multiplying by this odd factor spreads neighboring sizes over the whole word.
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t hash = 0;
  const auto add = [&hash](uint64_t value) {
    hash = (hash ^ value) * kFactor;
    hash ^= hash >> 32;
  };
  add(shape.m);
  add(shape.n);
  add(shape.k);
  add(static_cast<uint64_t>(shape.transpose_a) | static_cast<uint64_t>(shape.transpose_b) << 1 |
      static_cast<uint64_t>(shape.has_c) << 2 | static_cast<uint64_t>(shape.c_is_d) << 3 |
      static_cast<uint64_t>(shape.has_bias) << 4 |
      static_cast<uint64_t>(shape.fast_accumulation) << 5 |
      static_cast<uint64_t>(shape.epilogue) << 6 | static_cast<uint64_t>(shape.a_type) << 8 |
      static_cast<uint64_t>(shape.b_type) << 16 | static_cast<uint64_t>(shape.output_type) << 24);
  return hash;
}

GemmTable::GemmTable(std::string device, int64_t version)
    : device_(std::move(device)), version_(version) {}

std::optional<GemmAlgorithm> GemmTable::Find(const GemmShape& shape) const {
  const auto found = algorithms_.find(shape);
  if (found == algorithms_.end()) return std::nullopt;
  return found->second;
}

void GemmTable::Set(const GemmShape& shape, const GemmAlgorithm& algorithm) {
  algorithms_[shape] = algorithm;
}

void GemmTable::Add(std::string_view text, const std::string& origin) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("device") != device_ || json.at("cublaslt") != version_) return;
    // Collects the entries first, so that nothing is added if a later entry has an error.
    decltype(algorithms_) loaded;
    for (const nlohmann::json& entry : json.at("products")) {
      loaded[ParseShape(entry)] = ParseAlgorithm(entry.at("algorithm"));
    }
    for (const auto& [shape, algorithm] : loaded) algorithms_[shape] = algorithm;
  } catch (const std::exception& error) {
    throw KernelError("cannot parse " + origin + ": " + error.what());
  }
}

void GemmTable::Save(const std::string& path) const {
  // Sorts the entries by their text, so that equal tables give equal files.
  std::map<std::string, nlohmann::json> sorted;
  for (const auto& [shape, algorithm] : algorithms_) {
    nlohmann::json entry = ToJson(shape);
    entry["algorithm"] = ToJson(algorithm);
    sorted[ToJson(shape).dump()] = std::move(entry);
  }
  nlohmann::json json = {
      {"device", device_}, {"cublaslt", version_}, {"products", nlohmann::json::array()}};
  for (auto& [key, entry] : sorted) json["products"].push_back(std::move(entry));
  std::ofstream file(path);
  file << ToLines(json) << "\n";
  file.close();
  if (!file) throw KernelError("cannot write " + path);
}

}  // namespace trainyard::trainer::kernels
