// Small text helpers that the standard library lacks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string to_lower(std::string_view text);

// Decimal, whole text, with sign.
Result<int64_t> parse_int(std::string_view text);

// The candidate with the smallest edit distance to `word`, if it is near enough to be a typing slip
// (at most a third of the word's length, and 3).
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);
std::string hex_encode(std::string_view bytes);

// The length of the UTF-8 character that the text begins with; 0 = none does. Not for empty text.
size_t utf8_bytes(std::string_view text);
bool is_utf8(std::string_view text);
// The text with U+FFFD for each byte that is not UTF-8.
std::string to_utf8(std::string_view text);

// 64-bit FNV-1a; for names and digests that must be stable across runs, not for security.
uint64_t fnv1a(std::string_view bytes);

}  // namespace tau
