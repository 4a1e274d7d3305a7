// Compression (gzip) and caching (entity tags) of responses.
#ifndef TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
#define TRAINYARD_CONTROLLER_HTTP_CONTENT_H_

#include <string>
#include <string_view>

namespace trainyard::controller::http {

// Compresses the bytes to gzip format. `level` ranges from 1 (fast) to 9 (small).
std::string Gzip(std::string_view bytes, int level);

// Returns true if the Accept-Encoding header accepts gzip (RFC 9110, section 12.5.3).
bool AcceptsGzip(std::string_view accept_encoding);

// Returns a weak entity tag of the body. The tag does not depend on the time at which the body was
// created (`as_of_ms`).
std::string EntityTag(std::string_view body);

// Returns true if the If-None-Match header contains the tag or "*".
bool MatchesTag(std::string_view if_none_match, std::string_view tag);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
