#include "cmd/up_config.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "meta/yaml.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys{"nodes", "port", "durability", "logLevel"};
  return keys;
}

Failure wrong(const std::string& what, const std::string& where) {
  return Failure("TG-CFG-010", ExitCode::usage, what).at(where).read_on("tau up --help");
}

Try<void> take(UpOptions& options, std::string_view key, const json::value& value,
               const std::string& file) {
  const std::string where = fmt::format("{}  {}", file, key);
  if (key == "port") {
    if (!value.is_int64()) return failed(wrong("port is a number", where));
    if (options.port == 0)
      options.port = static_cast<int>(std::clamp<int64_t>(value.get_int64(), -1, 70'000));
    return {};
  }
  std::string* to = key == "nodes"        ? &options.nodes
                    : key == "durability" ? &options.durability
                    : key == "logLevel"   ? &options.log_level
                                          : nullptr;
  if (to == nullptr)
    return failed(wrong(fmt::format("unknown key \"{}\"", key), where)
                      .because(did_you_mean(key, known_keys())));
  if (!value.is_string()) return failed(wrong(fmt::format("{} is a text", key), where));
  if (to->empty()) *to = value.get_string().c_str();
  return {};
}

}  // namespace

Try<UpOptions> merged_config(UpOptions flags, std::string_view text, const std::string& file) {
  const auto documents = meta::parse_yaml(text);
  if (!documents)
    return failed(
        wrong("the configuration cannot be read", file).because(documents.error().message));
  for (const json::value& document : *documents) {
    if (!document.is_object())
      return failed(wrong("the configuration is not a list of keys", file));
    for (const auto& [key, value] : document.get_object()) {
      auto done = take(flags, key, value, file);
      if (!done) return std::unexpected(done.error());
    }
  }
  if (flags.durability.empty()) flags.durability = "full";
  if (flags.log_level.empty()) flags.log_level = "info";
  if (flags.durability != "full" && flags.durability != "normal")
    return failed(wrong("durability is full or normal, not " + flags.durability, "--durability"));
  if (flags.port < 0 || flags.port > 65535)
    return failed(wrong(fmt::format("a port is 0 to 65535, not {}", flags.port), "--port"));
  return flags;
}

std::string config_text(const UpOptions& options) {
  return meta::to_yaml(json::object{{"nodes", options.nodes},
                                    {"port", options.port},
                                    {"durability", options.durability},
                                    {"logLevel", options.log_level}});
}

}  // namespace tau::cmd
