// HTTP messages: however the bytes are cut, the same whole messages come out.
#include "fuzz/fuzz.h"
#include "http/codec.h"

namespace tau::http {
namespace {

std::string shown(const Request& request) {
  std::string text = request.method + " " + request.target + "\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\n";
  return text + "\n" + request.body;
}

// What was read can be written; chunks become a length.
void write_again(Request request) {
  std::erase_if(request.headers, [](const auto& h) { return h.first == "Transfer-Encoding"; });
  RequestParser parser;
  const auto ready = parser.feed(encode_request(request, "h"));
  if (!find_header(request.headers, "Transfer-Encoding").empty()) return;  // of other letters
  REQUIRE(ready && *ready);
  Request again = parser.take();
  REQUIRE(again.headers.size() >= request.headers.size());
  again.headers = request.headers;  // a host and a length may have been added
  REQUIRE(shown(again) == shown(request));
}

std::string requests_of(std::string_view bytes, size_t piece) {
  RequestParser parser({.head_bytes = 4096, .body_bytes = 4096});
  std::string text;
  while (!bytes.empty()) {
    auto ready = parser.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (ready && *ready) {
      const Request request = parser.take();
      REQUIRE(request.body.size() <= 4096);
      if (!parser.is_http_1_0()) write_again(request);  // there, Host may be missing or twofold
      text += shown(request) + (parser.keeps_alive() ? "\n--\n" : "\n-- last\n");
      if (!parser.keeps_alive()) return text;
      ready = parser.feed("");
    }
    if (!ready) {
      REQUIRE(ready.error().status >= 400);
      return text;
    }
  }
  return text;
}

std::string response_of(std::string_view bytes, size_t piece, bool is_head) {
  ResponseParser parser;
  std::string head, body;
  int heads = 0;
  parser.start({.on_head =
                    [&](ResponseHead h) {
                      ++heads;
                      head = std::to_string(h.status);
                      for (const auto& [name, value] : h.headers) head += name + value;
                    },
                .on_body = [&](std::string_view part) { body += part; }},
               is_head);
  std::string end;
  while (!bytes.empty() && !parser.is_done() && end.empty()) {
    const auto used = parser.feed(bytes.substr(0, piece));
    if (!used) end = "refused";
    bytes.remove_prefix(std::min(used ? *used : bytes.size(), bytes.size()));
    if (used && *used == 0 && !parser.is_done()) break;
  }
  if (end.empty() && !parser.is_done()) end = parser.feed_end() ? "whole" : "cut";
  REQUIRE(heads <= 1);
  // What was read of an answer that is not whole, and when it is refused, depends on the cuts.
  const bool is_whole = parser.is_done() || end == "whole";
  return is_whole ? head + "\n" + body : "none";
}

}  // namespace
}  // namespace tau::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tau::http;
  tau::fuzz::Input input(data, size);
  const uint8_t how = input.byte();
  const size_t piece = 1 + how % 13;
  if (how & 0x80) {
    const bool is_head = (how & 0x40) != 0;
    REQUIRE(response_of(input.rest(), input.rest().size(), is_head) ==
            response_of(input.rest(), piece, is_head));
  } else {
    REQUIRE(requests_of(input.rest(), input.rest().size()) == requests_of(input.rest(), piece));
  }
  return 0;
}
