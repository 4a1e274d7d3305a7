#include "trainer/data/token_path.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "proto/contract/token_format.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/token_layout.h"

namespace trainyard::trainer {
namespace {

namespace fs = std::filesystem;

constexpr char kFormats[] = "data.format: trainyard, megatron, nanogpt or llmc";

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string WithoutExtension(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  const bool is_known = extension == ".bin" || extension == ".idx" || extension == ".json";
  return is_known ? path.substr(0, path.size() - extension.size()) : path;
}

bool HasWord(std::string_view name, std::string_view word) {
  constexpr std::string_view kBetweenWords = "_-.";
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of(kBetweenWords), name.size());
    if (name.substr(0, end) == word) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

// Stems of the directory's .bin files that belong to the split; only SPLIT if SPLIT.bin exists.
std::vector<std::string> StemsOfSplit(const std::string& directory, const std::string& split) {
  if (IsFile(directory + "/" + split + ".bin")) return {directory + "/" + split};
  std::vector<std::string> stems;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".bin" || !HasWord(path.stem().string(), split)) continue;
    stems.push_back(directory + "/" + path.stem().string());
  }
  if (error) {
    throw TrainerError(ExitCode::kNoInput, directory + ": cannot list: " + error.message());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

[[noreturn]] void RefuseAmbiguous(const std::string& stem) {
  throw TrainerError(
      ExitCode::kBadData,
      stem + ".json and " + stem +
          ".idx describe the same file in two formats; remove one of the two, or set " + kFormats);
}

DataFormat Recognise(const std::string& stem) {
  const bool has_json = IsFile(stem + ".json"), has_index = IsFile(stem + ".idx");
  if (has_json && has_index) RefuseAmbiguous(stem);
  if (has_json) return DataFormat::kTrainyard;
  if (has_index) return DataFormat::kMegatron;
  const MappedFile data(stem + ".bin", ReadOrder::kRandom, "");
  if (BeginsLikeLlmc(data)) return DataFormat::kLlmc;
  throw TrainerError(
      ExitCode::kBadData,
      stem +
          ".bin has neither a .json or .idx file beside it nor a header of llm.c. The file is "
          "truncated, or was made by nanoGPT, which writes no header; for nanoGPT's files, set " +
          kFormats);
}

bool MayHaveParts(DataFormat format) {
  return format == DataFormat::kMegatron || format == DataFormat::kLlmc;
}

TokenFileNames FindSplit(const std::string& directory, const std::string& split,
                         DataFormat format) {
  const std::string stem = directory + "/" + split;
  if (IsFile(stem + ".json") && !IsFile(stem + ".idx") && format == DataFormat::kAuto) {
    return {DataFormat::kTrainyard, {stem}};
  }
  const bool may_have_parts = format == DataFormat::kAuto || MayHaveParts(format);
  std::vector<std::string> stems =
      may_have_parts ? StemsOfSplit(directory, split) : std::vector<std::string>{stem};
  if (stems.empty() && format == DataFormat::kAuto) return {DataFormat::kTrainyard, {stem}};
  if (stems.empty()) {
    throw TrainerError(
        ExitCode::kNoInput,
        directory + ": contains no .bin file with this name, or with this word in its name: `" +
            split + "`; correct data.path or data.format");
  }
  if (format == DataFormat::kAuto) format = Recognise(stems.front());
  if (!MayHaveParts(format)) stems = {stem};
  return {format, std::move(stems)};
}

}  // namespace

bool HoldsSplits(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || !IsFile(WithoutExtension(path) + ".bin");
}

TokenFileNames FindTokenFiles(const std::string& path, const std::string& split,
                              DataFormat format) {
  std::error_code ignored;
  if (!HoldsSplits(path)) {
    if (split != token_format::kTrainSplit) {
      throw TrainerError(ExitCode::kNoInput, path + ": is one file and has no split `" + split +
                                                 "`; name a data set in evaluation.sets, or set "
                                                 "evaluation.every_steps to 0");
    }
    const std::string stem = WithoutExtension(path);
    return {format == DataFormat::kAuto ? Recognise(stem) : format, {stem}};
  }
  const bool is_directory = fs::is_directory(path, ignored);
  if (is_directory) return FindSplit(path, split, format);
  return {format == DataFormat::kAuto ? DataFormat::kTrainyard : format, {path + "/" + split}};
}

}  // namespace trainyard::trainer
