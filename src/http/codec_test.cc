#include "http/codec.h"

#include <gtest/gtest.h>

namespace tau::http {
namespace {

// Feeds `wire` in pieces of `step` bytes; every ready request is rendered as one line.
std::string parse_all(std::string_view wire, size_t step, RequestParser::Limits limits = {}) {
  RequestParser parser(limits);
  std::string out;
  for (size_t at = 0; at < wire.size(); at += step) {
    auto ready = parser.feed(wire.substr(at, step));
    while (ready && *ready) {
      const Request request = parser.take();
      out += request.method + " " + request.target + " [" + request.body + "]" +
             (parser.keeps_alive() ? "" : " close") + "\n";
      ready = parser.feed("");
    }
    if (!ready) return out + "error " + std::to_string(ready.error().status);
  }
  return out;
}

TEST(RequestParser, ReadsTheSameHoweverTheBytesAreCut) {
  struct Case {
    const char* name;
    std::string given, want;
  };
  const std::string host = "Host: a\r\n";
  const Case cases[] = {
      {"get", "GET /api?x=1 HTTP/1.1\r\n" + host + "\r\n", "GET /api?x=1 []\n"},
      {"body", "POST /a HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello",
       "POST /a [hello]\n"},
      {"chunked",
       "PUT /a HTTP/1.1\r\n" + host +
           "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
       "PUT /a [abcde]\n"},
      {"pipelined",
       "POST /1 HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nxGET /2 HTTP/1.1\r\n" + host +
           "\r\n",
       "POST /1 [x]\nGET /2 []\n"},
      {"close", "GET / HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "GET / [] close\n"},
      {"http 1.0", "GET / HTTP/1.0\r\n\r\n", "GET / [] close\n"},
      {"two lengths",
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
       "error 400"},
      {"length and chunked",
       "POST / HTTP/1.1\r\n" + host +
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "error 400"},
      {"chunked and length",
       "POST / HTTP/1.1\r\n" + host +
           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
       "error 400"},
      {"unknown coding", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n",
       "error 501"},
      {"two codings",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
       "error 501"},
      {"no host", "GET / HTTP/1.1\r\n\r\n", "error 400"},
      {"two hosts", "GET / HTTP/1.1\r\n" + host + host + "\r\n", "error 400"},
      {"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "error 400"},
      {"bare line feed", "GET / HTTP/1.1\nHost: a\n\n\r\n\r\n", "error 505"},
      {"negative length", "POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", "error 400"},
      {"huge length", "POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n",
       "error 400"},
      {"bad chunk size",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", "error 400"},
      {"chunk overrun",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\nabcd\r\n0\r\n\r\n",
       "error 400"},
      {"other version", "GET / HTTP/2.0\r\n" + host + "\r\n", "error 505"},
      {"not http", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "error 400"},
      {"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "error 400"},
  };
  for (const Case& c : cases) {
    for (const size_t step : {1, 2, 7, 100'000})
      EXPECT_EQ(parse_all(c.given, step), c.want) << c.name << " by " << step;
  }
}

TEST(RequestParser, BoundsHeadBodyAndChunks) {
  const RequestParser::Limits small{.head_bytes = 200, .body_bytes = 10};
  const std::string start = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(parse_all(start + "Content-Length: 11\r\n\r\nhello world", 1, small), "error 413");
  EXPECT_EQ(parse_all(start + "X: " + std::string(300, 'x') + "\r\n\r\n", 1, small), "error 431");
  EXPECT_EQ(parse_all(start + "X: " + std::string(3000, 'x'), 50, small), "error 431");
  const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(parse_all(chunked + "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n", 1, small), "error 413");
  EXPECT_EQ(parse_all(chunked + "1;" + std::string(300, 'x'), 1, small), "error 431");
  EXPECT_EQ(parse_all(chunked + "0\r\nX: " + std::string(300, 'x'), 1, small), "error 431");
}

TEST(RequestParser, TrailersNeverActAsHeaders) {
  RequestParser parser;
  const auto ready = parser.feed(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer "
      "x\r\n\r\n");
  ASSERT_TRUE(ready && *ready);
  EXPECT_EQ(find_header(parser.take().headers, "authorization"), "");
}

TEST(RequestParser, SaysOnceThatThePeerWaitsToContinue) {
  RequestParser parser;
  ASSERT_TRUE(parser.feed(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_FALSE(parser.is_idle());
  EXPECT_TRUE(parser.take_expects_continue());
  EXPECT_FALSE(parser.take_expects_continue());
  EXPECT_TRUE(parser.feed("x").value());
  EXPECT_EQ(parser.take().body, "x");
  EXPECT_TRUE(parser.is_idle());
}

TEST(RequestParser, NeverCrashesOnCutsAndFlips) {
  const std::string good =
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: "
      "y\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n";
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char with : {'\0', '\r', '\n', ' ', ':', '\xff', '9'}) {
      std::string bad = good;
      bad[at] = with;
      parse_all(bad, 1);
      parse_all(bad, 13);
    }
  }
}

std::string parse_response(std::string_view wire, size_t step, bool is_head = false,
                           bool ends = false) {
  ResponseParser parser;
  std::string out;
  parser.start({.on_head = [&](ResponseHead head) { out += std::to_string(head.status) + " "; },
                .on_body = [&](std::string_view bytes) { out += bytes; }},
               is_head);
  size_t used = 0;
  for (size_t at = 0; at < wire.size() && !parser.is_done(); at += step) {
    const auto fed = parser.feed(wire.substr(at, step));
    if (!fed) return out + "|error";
    used += *fed;
  }
  if (ends && !parser.feed_end()) return out + "|cut";
  return out + (parser.is_done() ? "|done" : "|open") + (parser.keeps_alive() ? " alive" : "") +
         " " + std::to_string(wire.size() - used);
}

TEST(ResponseParser, ReadsTheSameHoweverTheBytesAreCut) {
  struct Case {
    const char* name;
    const char* given;
    bool is_head, ends;
    const char* want;
  };
  const Case cases[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, false,
       "200 ok|done alive 0"},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
       false, false, "200 ok|done alive 0"},
      {"continue first",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", false,
       false, "201 |done alive 0"},
      {"head", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, false, "200 |done alive 0"},
      {"until end", "HTTP/1.1 200 OK\r\n\r\nabc", false, true, "200 abc|done 0"},
      {"cut", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", false, true, "200 abc|cut"},
      {"cut chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", false,
       true, "200 ok|cut"},
      {"no http", "SSH-2.0-OpenSSH\r\n\r\n", false, false, "|error"},
      {"upgrade", "HTTP/1.1 101 Switching\r\n\r\n", false, false, "|error"},
      {"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, false,
       "200 |done 0"},
  };
  for (const Case& c : cases) {
    for (const size_t step : {1, 3, 1000}) {
      EXPECT_EQ(parse_response(c.given, step, c.is_head, c.ends), c.want)
          << c.name << " by " << step;
    }
  }
  EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP", 1000),
            "200 ok|done alive 4");
}

TEST(Encode, NoValueCanSplitAMessage) {
  EXPECT_EQ(encode_response_head({200, {{"X", "a\r\nSet-Cookie: b"}}}, BodyFraming::chunked, false),
            "HTTP/1.1 200 OK\r\nX: a  Set-Cookie: b\r\nTransfer-Encoding: chunked\r\nConnection: "
            "close\r\n\r\n");
  EXPECT_EQ(encode_request({"POST", "/a b\r\n", {}, "x"}, "h:1"),
            "POST /a%20b%0D%0A HTTP/1.1\r\nHost: h:1\r\nContent-Length: 1\r\n\r\nx");
  // An empty host is a host: two would be refused.
  EXPECT_EQ(encode_request({"GET", "/", {{"host", ""}}, ""}, "h"),
            "GET / HTTP/1.1\r\nhost: \r\n\r\n");
  std::string chunks;
  append_chunk(chunks, "");
  append_chunk(chunks, std::string(17, 'x'));
  EXPECT_EQ(chunks, "11\r\n" + std::string(17, 'x') + "\r\n");
}

TEST(Encode, WhatIsWrittenIsReadBack) {
  EXPECT_EQ(parse_all(encode_request({"PATCH", "/a?b=c", {{"Accept", "*/*"}}, "body"}, "h"), 1),
            "PATCH /a?b=c [body]\n");
  std::string wire = encode_response_head({404, {}}, BodyFraming::chunked, true);
  append_chunk(wire, "gone");
  wire += last_chunk();
  EXPECT_EQ(parse_response(wire, 1), "404 gone|done alive 0");
}

TEST(LineSplitter, SplitsHoweverTheBytesAreCut) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\r\nrest";
  for (const size_t step : {1, 2, 5, 100}) {
    LineSplitter splitter;
    std::string out;
    for (size_t at = 0; at < text.size(); at += step) {
      ASSERT_TRUE(splitter.feed(std::string_view(text).substr(at, step),
                                [&](auto line) { out += "<" + std::string(line) + ">"; }));
    }
    EXPECT_EQ(out, "<{\"a\":1}><{\"b\":2}>");
  }
  LineSplitter small(4);
  const auto ignore = [](std::string_view) {};
  EXPECT_TRUE(small.feed("abcd\nab", ignore));
  EXPECT_FALSE(small.feed("cde", ignore));
  EXPECT_FALSE(LineSplitter(4).feed("abcde\n", ignore));
}

}  // namespace
}  // namespace tau::http
