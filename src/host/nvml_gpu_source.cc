#include "host/nvml_gpu_source.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/text.h"
#include "host/files.h"

namespace tau::host {
namespace {

// The few declarations that are used, after NVIDIA's documented ABI.
using Device = struct DeviceHandle*;
using Return = int;
constexpr Return success = 0;
constexpr unsigned core_temperature = 0;
struct Pci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned gpu, memory;  // per cent
};

}  // namespace

struct NvmlGpuSource::Library {
  void* handle = nullptr;
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_text)(Return) = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*at_index)(unsigned, Device*) = nullptr;
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  // What a library may lack.
  Return (*pci)(Device, Pci*) = nullptr;
  Return (*memory)(Device, Memory*) = nullptr;
  Return (*utilisation)(Device, Utilisation*) = nullptr;
  Return (*power)(Device, unsigned*) = nullptr;
  Return (*temperature)(Device, unsigned, unsigned*) = nullptr;
  bool is_initialised = false;

  template <class Function>
  bool find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    return function != nullptr;
  }
  bool open(const std::string& path) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    find(pci, "nvmlDeviceGetPciInfo_v3");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(utilisation, "nvmlDeviceGetUtilizationRates");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(error_text, "nvmlErrorString") && find(count, "nvmlDeviceGetCount_v2") &&
           find(at_index, "nvmlDeviceGetHandleByIndex_v2") && find(uuid, "nvmlDeviceGetUUID") &&
           find(name, "nvmlDeviceGetName");
  }
  ~Library() {
    if (is_initialised) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
  std::unexpected<Error> failed(const char* doing, Return code) const {
    return fail(ErrorCode::unavailable, fmt::format("NVML: {}: {}", doing, error_text(code)));
  }
  void add_facts(Device device, agent::Gpu& gpu) const;
};

namespace {

// As the label nvidia.com/gpu.product has it: words joined by dashes.
std::string product_of(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

// The kernel names PCI devices with four digits of domain, NVML with eight.
std::optional<int> numa_node_of(const std::string& pci_address) {
  std::string address = to_lower(pci_address);
  if (address.size() == 16 && address.starts_with("0000")) address.erase(0, 4);
  const auto text = read_file(fmt::format("/sys/bus/pci/devices/{}/numa_node", address));
  const auto node = text ? parse_int(trim(*text)) : Result<int64_t>(std::unexpected(text.error()));
  if (!node || *node < 0) return std::nullopt;  // -1: the machine does not say
  return static_cast<int>(*node);
}

}  // namespace

void NvmlGpuSource::Library::add_facts(Device device, agent::Gpu& gpu) const {
  Pci where{};
  if (pci != nullptr && pci(device, &where) == success) {
    where.bus_id[sizeof where.bus_id - 1] = '\0';
    gpu.pci_address = where.bus_id;
    gpu.numa_node = numa_node_of(gpu.pci_address);
  }
  Memory bytes{};
  if (memory != nullptr && memory(device, &bytes) == success) {
    gpu.memory_bytes = static_cast<int64_t>(bytes.total);
    gpu.memory_used_bytes = static_cast<int64_t>(bytes.used);
  }
  Utilisation rates{};
  if (utilisation != nullptr && utilisation(device, &rates) == success)
    gpu.utilisation = rates.gpu / 100.0;
  unsigned value = 0;
  if (power != nullptr && power(device, &value) == success) gpu.power_w = value / 1000.0;
  if (temperature != nullptr && temperature(device, core_temperature, &value) == success)
    gpu.temperature_c = value;
}

NvmlGpuSource::NvmlGpuSource(std::string library) : library_(std::make_unique<Library>()) {
  if (!library_->open(library)) library_.reset();
}
NvmlGpuSource::~NvmlGpuSource() = default;
bool NvmlGpuSource::is_loaded() const {
  return library_ != nullptr;
}

Result<std::vector<agent::Gpu>> NvmlGpuSource::read() {
  std::vector<agent::Gpu> gpus;
  if (library_ == nullptr) return gpus;
  Library& nvml = *library_;
  if (!nvml.is_initialised) {
    if (const Return code = nvml.init(); code != success) return nvml.failed("cannot start", code);
    nvml.is_initialised = true;
  }
  unsigned count = 0;
  if (const Return code = nvml.count(&count); code != success)
    return nvml.failed("cannot count the GPUs", code);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    char uuid[96] = {}, name[96] = {};
    if (nvml.at_index(i, &device) != success || nvml.uuid(device, uuid, sizeof uuid) != success)
      continue;
    agent::Gpu gpu{.index = static_cast<int>(i), .uuid = uuid};
    if (nvml.name(device, name, sizeof name) == success) gpu.product = product_of(name);
    nvml.add_facts(device, gpu);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace tau::host
