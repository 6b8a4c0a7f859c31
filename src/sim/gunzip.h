// Unpacks gzip text in memory, as traces are often kept.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tau::sim {

constexpr size_t unpacked_bytes_limit = size_t{1} << 30;

bool is_gzip(std::string_view bytes);
// One or more members (RFC 1952), checksums compared.
Result<std::string> gunzip(std::string_view bytes);

}  // namespace tau::sim
