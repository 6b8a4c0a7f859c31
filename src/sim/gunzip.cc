#include "sim/gunzip.h"

#include <fmt/format.h>

#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>
#include <optional>

namespace tau::sim {
namespace {

constexpr size_t fixed_header_bytes = 10, trailer_bytes = 8;
constexpr uint8_t has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16;

uint32_t little_endian(std::string_view bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Where the packed data begins.
std::optional<size_t> header_end(std::string_view bytes) {
  if (bytes.size() < fixed_header_bytes || !is_gzip(bytes) || bytes[2] != 8) return std::nullopt;
  const auto flags = static_cast<uint8_t>(bytes[3]);
  size_t at = fixed_header_bytes;
  if ((flags & has_extra) != 0) {
    if (bytes.size() < at + 2) return std::nullopt;
    at += 2 + little_endian(bytes, at, 2);
  }
  for (const uint8_t text : {has_name, has_comment}) {
    if ((flags & text) == 0) continue;
    const size_t end = bytes.find('\0', at);
    if (end == std::string_view::npos) return std::nullopt;
    at = end + 1;
  }
  if ((flags & has_checksum) != 0) at += 2;
  if (at > bytes.size()) return std::nullopt;
  return at;
}

// Appends what a member holds, and returns how many packed bytes it had.
Result<size_t> inflate_member(std::string_view packed, std::string& to) {
  boost::beast::zlib::inflate_stream stream;
  boost::beast::zlib::z_params at;
  at.next_in = packed.data();
  at.avail_in = packed.size();
  std::string block(1 << 16, '\0');
  while (true) {
    at.next_out = block.data();
    at.avail_out = block.size();
    boost::beast::error_code error;
    stream.write(at, boost::beast::zlib::Flush::sync, error);
    const size_t got = block.size() - at.avail_out;
    to.append(block, 0, got);
    if (error == boost::beast::zlib::error::end_of_stream) return packed.size() - at.avail_in;
    if (error && error != boost::beast::zlib::error::need_buffers)
      return fail(ErrorCode::bad_request, fmt::format("gzip: {}", error.message()));
    if (got == 0) return fail(ErrorCode::bad_request, "gzip: the text ends in the middle");
    if (to.size() > unpacked_bytes_limit)
      return fail(ErrorCode::too_large,
                  fmt::format("gzip: unpacks to more than {} bytes", unpacked_bytes_limit));
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

Result<std::string> gunzip(std::string_view bytes) {
  std::string plain;
  do {
    const auto begin = header_end(bytes);
    if (!begin) return fail(ErrorCode::bad_request, "gzip: not a gzip header");
    const size_t before = plain.size();
    const size_t packed = TRY(inflate_member(bytes.substr(*begin), plain));
    bytes.remove_prefix(*begin + packed);
    if (bytes.size() < trailer_bytes)
      return fail(ErrorCode::bad_request, "gzip: the text ends in the middle");
    boost::crc_32_type crc;
    crc.process_bytes(plain.data() + before, plain.size() - before);
    if (crc.checksum() != little_endian(bytes, 0, 4))
      return fail(ErrorCode::bad_request, "gzip: the checksum does not match");
    bytes.remove_prefix(trailer_bytes);
  } while (!bytes.empty());
  return plain;
}

}  // namespace tau::sim
