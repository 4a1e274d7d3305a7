#include "controller/http/assets.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/http/content.h"
#include "controller/http/problem.h"
#include "controller/http/target.h"
#include "controller/store/support/checksum.h"

// The archive that trainyard-embed wrote. For each file, the archive contains the length of the
// name and the length of the compressed data (32 bits each, little-endian), then the name and the
// data. openapi.json is embedded separately and uncompressed.
asm(".section .rodata\n"
    ".global trainyard_assets_begin\n"
    ".global trainyard_assets_end\n"
    ".global trainyard_openapi_begin\n"
    ".global trainyard_openapi_end\n"
    "trainyard_assets_begin:\n"
    ".incbin \"" TRAINYARD_ASSETS
    "\"\n"
    "trainyard_assets_end:\n"
    "trainyard_openapi_begin:\n"
    ".incbin \"" TRAINYARD_OPENAPI
    "\"\n"
    "trainyard_openapi_end:\n"
    ".byte 0\n"
    ".previous\n");
extern const char trainyard_assets_begin[];
extern const char trainyard_assets_end[];
extern const char trainyard_openapi_begin[];
extern const char trainyard_openapi_end[];

namespace trainyard::controller::http {
namespace {

namespace fs = std::filesystem;

constexpr char kNoDashboard[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Trainyard</title>\n"
    "<h1>Trainyard</h1>\n"
    "<p>This controller was built without its dashboard, because the folder <code>web/dist</code> "
    "did not exist. Run <code>web/build.sh</code> and build again, or start the controller with "
    "<code>--web-root web/dist</code>.</p>\n"
    "<p>The REST API works: <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>, "
    "<a href=\"/api/v1/server\">/api/v1/server</a>, <a "
    "href=\"/api/v1/jobs\">/api/v1/jobs</a>.</p>\n";

std::string TypeOf(const std::string& path) {
  const std::pair<const char*, const char*> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (const auto& [ending, type] : types) {
    if (absl::EndsWith(path, ending)) return type;
  }
  return "application/octet-stream";
}

// Files below /assets/ may be cached forever, because Vite adds a content hash to their names.
std::string CacheControl(const std::string& path) {
  return absl::StartsWith(path, "/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
}

// Returns true if the last part of the path has no dot. Files of the dashboard have a dot there,
// pages do not.
bool LooksLikePage(const std::string& path) {
  return path.substr(path.rfind('/') + 1).find('.') == std::string::npos;
}

uint32_t Length(const char* bytes) {
  unsigned char b[4];
  std::memcpy(b, bytes, sizeof b);
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}

std::string Gunzip(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  char buffer[16 << 10];
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  return out;
}

Response NotThere(const std::string& path) {
  return ProblemResponse("no_such_path", absl::StrCat("there is no ", path), path);
}

}  // namespace

absl::StatusOr<Assets> Assets::Embedded() {
  Assets assets;
  const char* at = trainyard_assets_begin;
  while (at < trainyard_assets_end) {
    if (trainyard_assets_end - at < 8) {
      return absl::DataLossError("the dashboard's archive is truncated");
    }
    const uint32_t name_size = Length(at), size = Length(at + 4);
    at += 8;
    if (static_cast<uint64_t>(trainyard_assets_end - at) < uint64_t{name_size} + size) {
      return absl::DataLossError("the dashboard's archive is truncated");
    }
    File file{.gzipped = {at + name_size, size}};
    file.etag = absl::StrCat("\"", absl::Hex(Checksum(file.gzipped, 0)), "\"");
    assets.files_.emplace(std::string(at, name_size), std::move(file));
    at += name_size + size;
  }
  return assets;
}

absl::StatusOr<Assets> Assets::InDirectory(const std::string& directory) {
  std::error_code error;
  Assets assets;
  assets.directory_ = fs::canonical(directory, error).string();
  if (error || !fs::is_regular_file(assets.directory_ + "/index.html", error)) {
    return absl::NotFoundError(
        absl::StrCat("--web-root ", directory,
                     ": the directory has no index.html; build the dashboard with web/build.sh and "
                     "set --web-root to web/dist"));
  }
  return assets;
}

std::string_view Assets::OpenApi() const {
  return {trainyard_openapi_begin,
          static_cast<std::size_t>(trainyard_openapi_end - trainyard_openapi_begin)};
}

Response Assets::Answer(const Request& request, const std::string& path) const {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = ProblemResponse("method_not_allowed", "files are read-only", path);
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  const auto decoded = PercentDecode(path, false);
  if (!decoded.ok()) return ProblemResponse(decoded.status(), path);
  return directory_.empty() ? AnswerEmbedded(request, *decoded) : AnswerFromDirectory(*decoded);
}

Response Assets::AnswerEmbedded(const Request& request, const std::string& path) const {
  auto found = files_.find(path);
  std::string name = path;
  if (found == files_.end() && LooksLikePage(path)) {
    name = "/index.html";
    found = files_.find(name);
    if (found == files_.end()) {
      return {.content_type = "text/html; charset=utf-8", .body = kNoDashboard};
    }
  }
  if (found == files_.end()) return NotThere(path);
  Response response{.content_type = TypeOf(name), .etag = found->second.etag};
  response.gzipped = AcceptsGzip(request.accept_encoding);
  response.body =
      response.gzipped ? std::string(found->second.gzipped) : Gunzip(found->second.gzipped);
  response.cache_control = CacheControl(name);
  return response;
}

Response Assets::AnswerFromDirectory(const std::string& path) const {
  std::error_code error;
  std::string name = path;
  fs::path file = fs::weakly_canonical(directory_ + path, error);
  if (!error && !fs::is_regular_file(file, error) && LooksLikePage(path)) {
    name = "/index.html";
    file = directory_ + name;
  }
  // Resolves ".." and links, so that neither can lead to a file outside the directory.
  const fs::path real = fs::canonical(file, error);
  if (error || !absl::StartsWith(real.string(), directory_ + "/")) return NotThere(path);
  std::ifstream input(real, std::ios::binary);
  std::stringstream bytes;
  bytes << input.rdbuf();
  return {.content_type = TypeOf(name), .body = bytes.str()};
}

}  // namespace trainyard::controller::http
