// A scripted NVML: two GPUs, of which the second says little.
#include <cstring>

extern "C" {
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned gpu, memory;
};
static int handles[2];
static bool is_first(void* device) {
  return device == &handles[0];
}
constexpr int not_supported = 3;

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == not_supported ? "Not Supported" : "Unknown Error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &handles[index];
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::strncpy(text, is_first(device) ? "GPU-aaaa" : "GPU-bbbb", size);
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::strncpy(text, "NVIDIA H100 80GB HBM3", size);
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  if (!is_first(device)) return not_supported;
  std::strncpy(pci->bus_id, "00000000:FF:1F.7", sizeof pci->bus_id);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (!is_first(device)) return not_supported;
  *memory = {80ULL << 30, 79ULL << 30, 1ULL << 30};
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilisation* rates) {
  if (!is_first(device)) return not_supported;
  *rates = {25, 10};
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 350'500;
  return is_first(device) ? 0 : not_supported;
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) {
  *celsius = 41;
  return is_first(device) ? 0 : not_supported;
}
}
