// Compression and caching of answers: gzip and entity tags.
#ifndef TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
#define TRAINYARD_CONTROLLER_HTTP_CONTENT_H_

#include <string>
#include <string_view>

namespace trainyard::controller::http {

// The bytes in gzip format. `level` is 1 (fast) to 9 (small).
std::string Gzip(std::string_view bytes, int level);

// True if the Accept-Encoding header accepts gzip (RFC 9110 12.5.3).
bool AcceptsGzip(std::string_view accept_encoding);

// A weak tag of the body. Ignores the time at which the body was made (`as_of_ms`).
std::string EntityTag(std::string_view body);

// True if the If-None-Match header contains the tag, or "*".
bool MatchesTag(std::string_view if_none_match, std::string_view tag);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
