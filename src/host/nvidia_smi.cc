// `nvidia-smi` of simulated GPUs: the table, -L and --query-gpu, for just the devices that a pod
// was given.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "host/asio_loop.h"
#include "host/shim.h"

namespace tau::host {
namespace {

struct Gpu {
  int index = 0;
  std::string uuid, name;
  int64_t memory_mib = 0;
};

std::vector<Gpu> visible_gpus() {
  std::vector<Gpu> gpus;
  const char* text = std::getenv("TAU_SIM_GPUS");
  if (text == nullptr) return gpus;
  for (const std::string_view part : split(text, ';')) {
    const auto fields = split(part, '|');
    if (fields.size() != 3) continue;
    std::string name(fields[1]);
    for (char& c : name) {
      if (c == '-') c = ' ';
    }
    gpus.push_back({static_cast<int>(gpus.size()), std::string(fields[0]), name,
                    parse_int(fields[2]).value_or(0) >> 20});
  }
  return gpus;
}

std::string field_of(const Gpu& gpu, std::string_view field, bool has_units) {
  const char* mib = has_units ? " MiB" : "";
  if (field == "index") return std::to_string(gpu.index);
  if (field == "name" || field == "gpu_name") return gpu.name;
  if (field == "uuid" || field == "gpu_uuid") return gpu.uuid;
  if (field == "memory.total") return fmt::format("{}{}", gpu.memory_mib, mib);
  if (field == "memory.used") return fmt::format("0{}", mib);
  if (field == "memory.free") return fmt::format("{}{}", gpu.memory_mib, mib);
  if (field == "utilization.gpu" || field == "utilization.memory") return has_units ? "0 %" : "0";
  if (field == "driver_version") return "simulated";
  return "[N/A]";
}

int query(const std::vector<Gpu>& gpus, std::string_view fields, std::string_view format) {
  const auto wanted = split(fields, ',');
  const bool has_header = format.find("noheader") == std::string_view::npos;
  const bool has_units = format.find("nounits") == std::string_view::npos;
  if (format.find("csv") == std::string_view::npos) {
    std::printf("ERROR: Option --format must be csv.\n");
    return 2;
  }
  const auto print_row = [&](auto value_of) {
    for (size_t i = 0; i < wanted.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ", ", value_of(trim(wanted[i])).c_str());
    std::printf("\n");
  };
  if (has_header) print_row([](std::string_view field) { return std::string(field); });
  for (const Gpu& gpu : gpus)
    print_row([&](std::string_view field) { return field_of(gpu, field, has_units); });
  return 0;
}

void print_table(const std::vector<Gpu>& gpus) {
  std::printf("%s (simulated by TauGrid)\n", format_rfc3339(system_now()).c_str());
  std::printf("+-----------------------------------------------------------------------------+\n");
  std::printf("| NVIDIA-SMI simulated      Driver Version: simulated   CUDA Version: N/A     |\n");
  std::printf("|-------------------------------+----------------------+----------------------|\n");
  std::printf("| GPU  Name                     | Memory-Usage         | GPU-Util             |\n");
  std::printf("|===============================+======================+======================|\n");
  for (const Gpu& gpu : gpus) {
    std::printf("| %3d  %-25s| %20s | %20s |\n", gpu.index, gpu.name.substr(0, 24).c_str(),
                fmt::format("0MiB / {}MiB", gpu.memory_mib).c_str(), "0%");
    std::printf("|      %-71s|\n", gpu.uuid.c_str());
  }
  std::printf("+-----------------------------------------------------------------------------+\n");
}

}  // namespace

int nvidia_smi_main(int argc, char** argv) {
  const std::vector<Gpu> gpus = visible_gpus();
  std::string_view fields, format = "csv";
  bool lists = false;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string_view {
      const size_t equals = word.find('=');
      return equals == std::string_view::npos ? (i + 1 < argc ? argv[++i] : "")
                                              : word.substr(equals + 1);
    };
    if (word == "-L" || word == "--list-gpus")
      lists = true;
    else if (word.starts_with("--query-gpu"))
      fields = value();
    else if (word.starts_with("--format"))
      format = value();
    else if (word == "-h" || word == "--help") {
      std::printf(
          "nvidia-smi of simulated GPUs: no options, -L, or --query-gpu=FIELD,... "
          "--format=csv[,noheader][,nounits]\n");
      return 0;
    } else {
      std::printf("Option %s is not known to the simulated nvidia-smi.\n", argv[i]);
      return 2;
    }
  }
  if (gpus.empty()) {
    std::printf("No devices were found\n");
    return 6;
  }
  if (lists) {
    for (const Gpu& gpu : gpus)
      std::printf("GPU %d: %s (UUID: %s)\n", gpu.index, gpu.name.c_str(), gpu.uuid.c_str());
    return 0;
  }
  if (!fields.empty()) return query(gpus, fields, format);
  print_table(gpus);
  return 0;
}

}  // namespace tau::host
