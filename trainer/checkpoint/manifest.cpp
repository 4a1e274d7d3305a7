#include "trainer/checkpoint/manifest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <cstdio>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "trainyard-checkpoint";
// Version 1 stores the attempt number under the key "epoch". Versions 1 and 2 have one checksum per
// chunk.
constexpr int64_t kNewestVersion = 4;
constexpr int64_t kWidestElement = 16;  // In bytes.
// A manifest begins with a checksum of all its bytes after the first kChecksumBytes.
constexpr char kChecksumKey[] = "{\"xxh64\":\"";
constexpr size_t kChecksumBytes = sizeof(kChecksumKey) - 1 + 16 + 2;  // Key, digits, quote, comma.

constexpr std::pair<torch::ScalarType, const char*> kDtypes[] = {
    {torch::kFloat32, "F32"}, {torch::kBFloat16, "BF16"}, {torch::kFloat16, "F16"},
    {torch::kFloat64, "F64"}, {torch::kInt64, "I64"},     {torch::kInt32, "I32"},
    {torch::kInt16, "I16"},   {torch::kInt8, "I8"},       {torch::kUInt8, "U8"},
    {torch::kBool, "BOOL"},
};

// Thrown while parsing. The public functions catch Fault and add the path.
struct Fault {
  std::string what;
};

torch::ScalarType DtypeFromName(const std::string& name) {
  if (const auto dtype = DtypeNamed(name)) return *dtype;
  throw Fault{"unknown dtype \"" + name + "\""};
}

std::string Hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

uint64_t FromHex(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || last != end || text.size() != 16) {
    throw Fault{"\"" + text + "\" is not a checksum"};
  }
  return value;
}

int64_t Whole(const json& value, const char* what) {
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 9e18) {
    throw Fault{std::string(what) + " is not a whole number, 0 or more"};
  }
  return value.get<int64_t>();
}

Extents ExtentsFrom(const json& value, const char* what) {
  Extents extents;
  for (const json& extent : value) extents.push_back(Whole(extent, what));
  return extents;
}

// Parses a file name. Rejects a name that could refer to a path outside of the checkpoint's
// directory.
std::string FileNameFrom(const json& value) {
  std::string name = value.get<std::string>();
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos) {
    throw Fault{"\"" + name + "\" is not a file name"};
  }
  return name;
}

// Returns a list with one checksum per block. If the chunk has only one checksum, returns it as a
// string.
json ChecksumsOf(const StoredChunk& chunk) {
  if (chunk.block_bytes > kLargestBlockBytes) return Hex(chunk.xxh64.at(0));
  json blocks = json::array();
  for (const uint64_t xxh64 : chunk.xxh64) blocks.push_back(Hex(xxh64));
  return blocks;
}

json ToJson(const Entries& entries) {
  json files = json::array();
  for (const auto& [name, file] : entries.files) {
    files.push_back({{"name", name},
                     {"bytes", file.bytes},
                     {"header_bytes", file.header_bytes},
                     {"header_xxh64", Hex(file.header_xxh64)}});
  }
  json tensors = json::array();
  for (const auto& [name, tensor] : entries.tensors) {
    json chunks = json::array();
    for (const StoredChunk& chunk : tensor.chunks) {
      chunks.push_back({{"offset", chunk.box.offset},
                        {"shape", chunk.box.shape},
                        {"file", chunk.file},
                        {"byte_range", {chunk.begin, chunk.end}},
                        {"block_bytes", chunk.block_bytes},
                        {"xxh64", ChecksumsOf(chunk)}});
    }
    tensors.push_back({{"name", name},
                       {"global_shape", tensor.shape},
                       {"dtype", DtypeName(tensor.dtype)},
                       {"chunks", std::move(chunks)}});
  }
  return {{"files", std::move(files)}, {"tensors", std::move(tensors)}};
}

void CheckChunk(const StoredChunk& chunk, const StoredTensor& tensor, const Entries& entries) {
  const std::string where = "a chunk in " + chunk.file;
  if (!IsInside(chunk.box, tensor.shape)) throw Fault{where + " is outside the tensor"};
  const auto file = entries.files.find(chunk.file);
  if (file == entries.files.end()) throw Fault{where + ": the file is not listed"};
  const int64_t bytes = *ElementsOf(chunk.box.shape) * c10::elementSize(tensor.dtype);
  if (chunk.end - chunk.begin != bytes || chunk.begin < file->second.header_bytes ||
      chunk.end > file->second.bytes) {
    throw Fault{where + " has an impossible byte range"};
  }
  const int64_t blocks = chunk.block_bytes == 0 ? 0 : (bytes - 1) / chunk.block_bytes + 1;
  if (static_cast<int64_t>(chunk.xxh64.size()) != blocks) {
    throw Fault{where + " has " + std::to_string(chunk.xxh64.size()) + " checksums for " +
                std::to_string(blocks) + " blocks"};
  }
}

// Reads block checksums or a single checksum, depending on the JSON type of the value. The version
// of the manifest does not decide this, because some ranks of a gang may run an earlier version.
void ReadChecksums(const json& value, StoredChunk* chunk) {
  const json& checksums = value.at("xxh64");
  const int64_t bytes = chunk->end - chunk->begin;
  if (checksums.is_string()) {
    chunk->block_bytes = bytes;
    chunk->xxh64 = {FromHex(checksums.get<std::string>())};
    return;
  }
  chunk->block_bytes = value.contains("block_bytes") ? Whole(value["block_bytes"], "block_bytes")
                                                     : kBlockBytesOfVersion3;
  // Every block must begin at an element boundary.
  const bool is_even = chunk->block_bytes % kWidestElement == 0 || chunk->block_bytes >= bytes;
  if (!is_even || chunk->block_bytes < 1 || chunk->block_bytes > kLargestBlockBytes) {
    throw Fault{"block_bytes " + std::to_string(chunk->block_bytes) + " is impossible"};
  }
  for (const json& block : checksums) chunk->xxh64.push_back(FromHex(block.get<std::string>()));
}

StoredChunk ChunkFrom(const json& value) {
  StoredChunk chunk;
  chunk.box.offset = ExtentsFrom(value.at("offset"), "offset");
  chunk.box.shape = ExtentsFrom(value.at("shape"), "shape");
  chunk.file = FileNameFrom(value.at("file"));
  chunk.begin = Whole(value.at("byte_range").at(0), "byte_range");
  chunk.end = Whole(value.at("byte_range").at(1), "byte_range");
  ReadChecksums(value, &chunk);
  return chunk;
}

StoredTensor TensorFrom(const json& value, const Entries& entries) {
  StoredTensor tensor;
  tensor.dtype = DtypeFromName(value.at("dtype").get<std::string>());
  tensor.shape = ExtentsFrom(value.at("global_shape"), "global_shape");
  const std::optional<int64_t> elements = ElementsOf(tensor.shape);
  if (!elements || *elements > (int64_t{1} << 58)) throw Fault{"its shape is impossible"};
  for (const json& chunk : value.at("chunks")) {
    tensor.chunks.push_back(ChunkFrom(chunk));
    CheckChunk(tensor.chunks.back(), tensor, entries);
  }
  return tensor;
}

StoredFile FileFrom(const json& value) {
  return {Whole(value.at("bytes"), "bytes"), Whole(value.at("header_bytes"), "header_bytes"),
          FromHex(value.at("header_xxh64").get<std::string>())};
}

Entries EntriesFrom(const json& value) {
  Entries entries;
  for (const json& file : value.at("files")) {
    entries.files[FileNameFrom(file.at("name"))] = FileFrom(file);
  }
  for (const json& tensor : value.at("tensors")) {
    const std::string name = tensor.at("name").get<std::string>();
    try {
      if (!entries.tensors.emplace(name, TensorFrom(tensor, entries)).second) {
        throw Fault{"it is listed twice"};
      }
    } catch (const Fault& fault) {
      throw Fault{"tensor " + name + ": " + fault.what};
    }
  }
  return entries;
}

Manifest ManifestFrom(const json& value) {
  if (value.value("format", "") != kFormat) throw Fault{"it is not a checkpoint's manifest"};
  const int64_t version = Whole(value.at("version"), "version");
  if (version < 1 || version > kNewestVersion) {
    throw Fault{"its format has version " + std::to_string(version) +
                ", but this program supports only versions up to " +
                std::to_string(kNewestVersion)};
  }
  Manifest manifest;
  manifest.step = Whole(value.at("step"), "step");
  const char* attempt_key = version == 1 ? "epoch" : "attempt";
  manifest.attempt.number = Whole(value.at(attempt_key), attempt_key);
  if (value.contains("job")) manifest.attempt.job_id = Whole(value.at("job"), "job");
  manifest.world_size = static_cast<int>(Whole(value.at("world_size"), "world_size"));
  manifest.model_fingerprint = value.at("model").get<std::string>();
  manifest.trainer_state = value.at("trainer");
  manifest.entries = EntriesFrom(value);
  for (const auto& [name, tensor] : manifest.entries.tensors) {
    std::vector<Box> boxes;
    for (const StoredChunk& chunk : tensor.chunks) boxes.push_back(chunk.box);
    const std::string fault = CoverageFault(std::move(boxes), tensor.shape);
    if (!fault.empty()) throw Fault{"tensor " + name + ": " + fault};
  }
  return manifest;
}

template <typename Result>
Result Parse(const std::string& text, const std::string& path, Result (*from)(const json&)) {
  try {
    return from(json::parse(text));
  } catch (const Fault& fault) {
    ThrowDamaged(path, fault.what);
  } catch (const json::exception& error) {
    ThrowDamaged(path, error.what());
  }
}

}  // namespace

[[noreturn]] void ThrowDamaged(const std::string& path, const std::string& what) {
  throw TrainerError(ExitCode::kBadCheckpoint,
                     path + " is damaged: " + what + "; use an older checkpoint");
}

std::string DtypeName(torch::ScalarType dtype) {
  for (const auto& [its_dtype, name] : kDtypes) {
    if (dtype == its_dtype) return name;
  }
  throw TrainerError(ExitCode::kInternal,
                     std::string("checkpoints cannot hold tensors of ") + c10::toString(dtype));
}

std::optional<torch::ScalarType> DtypeNamed(const std::string& name) {
  for (const auto& [dtype, its_name] : kDtypes) {
    if (name == its_name) return dtype;
  }
  return std::nullopt;
}

std::string EntriesToText(const Entries& entries) { return ToJson(entries).dump(); }

Entries EntriesFromText(const std::string& text, const std::string& path) {
  return Parse(text, path, EntriesFrom);
}

std::string ManifestToText(const Manifest& manifest) {
  json value = ToJson(manifest.entries);
  value["format"] = kFormat;
  value["version"] = kNewestVersion;
  value["step"] = manifest.step;
  value["job"] = manifest.attempt.job_id;
  value["attempt"] = manifest.attempt.number;
  value["world_size"] = manifest.world_size;
  value["model"] = manifest.model_fingerprint;
  value["trainer"] = manifest.trainer_state;
  const std::string body = value.dump().substr(1) + "\n";
  return kChecksumKey + Hex(XXH64(body.data(), body.size(), 0)) + "\"," + body;
}

Manifest ManifestFromText(const std::string& text, const std::string& path) {
  const size_t digits = sizeof(kChecksumKey) - 1;
  if (text.size() < kChecksumBytes || text.compare(0, digits, kChecksumKey) != 0) {
    ThrowDamaged(path, "it is truncated or is not a checkpoint's manifest");
  }
  const uint64_t checksum = XXH64(text.data() + kChecksumBytes, text.size() - kChecksumBytes, 0);
  if (text.compare(digits, 16, Hex(checksum)) != 0)
    ThrowDamaged(path, "its checksum does not match");
  return Parse(text, path, ManifestFrom);
}

void Merge(const Entries& more, Entries* all) {
  for (const auto& [name, file] : more.files) all->files[name] = file;
  for (const auto& [name, tensor] : more.tensors) {
    const auto [place, is_new] = all->tensors.emplace(name, tensor);
    if (is_new) continue;
    StoredTensor& known = place->second;
    if (known.dtype != tensor.dtype || known.shape != tensor.shape) {
      throw TrainerError(ExitCode::kInternal,
                         "ranks disagree about tensor " + name + ": " + DtypeName(known.dtype) +
                             " " + ToText(known.shape) + " and " + DtypeName(tensor.dtype) + " " +
                             ToText(tensor.shape));
    }
    known.chunks.insert(known.chunks.end(), tensor.chunks.begin(), tensor.chunks.end());
  }
}

void CheckCoverage(const Entries& entries) {
  for (const auto& [name, tensor] : entries.tensors) {
    std::vector<Box> boxes;
    for (const StoredChunk& chunk : tensor.chunks) boxes.push_back(chunk.box);
    const std::string fault = CoverageFault(std::move(boxes), tensor.shape);
    if (fault.empty()) continue;
    throw TrainerError(ExitCode::kInternal, "the ranks' chunks of tensor " + name +
                                                " do not form the whole tensor: " + fault);
  }
}

std::string RankDataName(int rank) {
  char name[40];
  std::snprintf(name, sizeof(name), "rank_%05d.safetensors", rank);
  return name;
}

std::string RankEntriesName(int rank) {
  char name[40];
  std::snprintf(name, sizeof(name), "rank_%05d.json", rank);
  return name;
}

std::string StepDirectoryName(int64_t step) {
  char name[40];
  std::snprintf(name, sizeof(name), "step_%09lld", static_cast<long long>(step));
  return name;
}

}  // namespace trainyard::trainer
