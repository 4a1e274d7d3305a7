#include "controller/http/content.h"

#include <zlib.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller::http {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // In zlib, + 16 selects the gzip format.
constexpr std::string_view kAsOf = "\"as_of_ms\":";

bool IsTag(std::string_view wanted, std::string_view tag) {
  if (wanted == "*") return true;
  if (wanted.starts_with("W/")) wanted.remove_prefix(2);
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  return wanted == tag;
}

}  // namespace

std::string Gzip(std::string_view bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();  // Out of memory, or the level is invalid.
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  const std::string lower = absl::AsciiStrToLower(std::string(accept_encoding));
  bool any = false;
  for (const auto& part : absl::StrSplit(lower, ',')) {
    const std::vector<std::string> fields = absl::StrSplit(part, ';');
    const std::string coding(absl::StripAsciiWhitespace(fields.front()));
    double quality = 1;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const auto field = absl::StripAsciiWhitespace(fields[i]);
      if (absl::StartsWith(field, "q=") && !absl::SimpleAtod(field.substr(2), &quality))
        return false;
    }
    if (coding == "gzip" || coding == "x-gzip") return quality > 0;
    if (coding == "*") any = quality > 0;
  }
  return any;
}

std::string EntityTag(std::string_view body) {
  const std::size_t as_of = body.rfind(kAsOf);
  if (as_of == std::string_view::npos) {
    return absl::StrCat("W/\"", absl::Hex(Checksum(body, 0)), "\"");
  }
  std::size_t end = as_of + kAsOf.size();
  while (end < body.size() && absl::ascii_isdigit(static_cast<unsigned char>(body[end]))) ++end;
  const uint64_t before = Checksum(body.substr(0, as_of), 0);
  return absl::StrCat("W/\"", absl::Hex(Checksum(body.substr(end), before)), "\"");
}

bool MatchesTag(std::string_view if_none_match, std::string_view tag) {
  if (if_none_match.empty() || tag.empty()) return false;
  for (const auto& part : absl::StrSplit(std::string(if_none_match), ',')) {
    const std::string wanted(absl::StripAsciiWhitespace(part));
    if (IsTag(wanted, tag)) return true;
  }
  return false;
}

}  // namespace trainyard::controller::http
