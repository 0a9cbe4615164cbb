// Functions of the driver: devices, contexts, errors.
#include "test/card/driver/Api.h"

#include <cstdio>
#include <string>

using namespace tbem::card;  // NOLINT: the functions are C's

namespace {

/// CU_DEVICE_ATTRIBUTE_* by number; those of an H100 but for the number of multiprocessors.
bool attributeOf(const Card& card, int attribute, int& value) {
  const int capability = static_cast<int>(card.settings.computeCapability);
  switch (attribute) {
    case 1:  // MAX_THREADS_PER_BLOCK
    case 2:  // MAX_BLOCK_DIM_X, _Y
    case 3:
      value = 1024;
      return true;
    case 4:  // MAX_BLOCK_DIM_Z
      value = 64;
      return true;
    case 5:  // MAX_GRID_DIM_X
      value = 0x7fff'ffff;
      return true;
    case 6:  // MAX_GRID_DIM_Y, _Z
    case 7:
      value = 65535;
      return true;
    case 8:  // MAX_SHARED_MEMORY_PER_BLOCK
      value = 48 << 10;
      return true;
    case 9:  // TOTAL_CONSTANT_MEMORY
      value = 64 << 10;
      return true;
    case 10:  // WARP_SIZE
      value = 32;
      return true;
    case 12:  // MAX_REGISTERS_PER_BLOCK, _PER_MULTIPROCESSOR
    case 82:
      value = 64 << 10;
      return true;
    case 16:  // MULTIPROCESSOR_COUNT
      value = 4;
      return true;
    case 38:  // L2_CACHE_SIZE
      value = 50 << 20;
      return true;
    case 39:  // MAX_THREADS_PER_MULTIPROCESSOR
      value = capability == 75 ? 1024 : 2048;
      return true;
    case 41:  // UNIFIED_ADDRESSING
      value = 1;
      return true;
    case 75:  // COMPUTE_CAPABILITY_MAJOR
      value = capability / 10;
      return true;
    case 76:  // COMPUTE_CAPABILITY_MINOR
      value = capability % 10;
      return true;
    case 97:  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
      value = static_cast<int>(mostSharedOf(card.settings));
      return true;
    default:
      return false;
  }
}

}  // namespace

TBEM_CARD_API cuInit(unsigned flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuInit", {false})) return result;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (card.settings.visible.empty()) return CUDA_ERROR_NO_DEVICE;
  card.initialised = true;
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDriverGetVersion(int* version) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuDriverGetVersion", {false})) return result;
  *version = 13000;
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGetErrorName(int error, const char** text) {
  switch (error) {
#define TBEM_CARD_ERROR(number, name, words) \
  case number:                               \
    *text = "CUDA_" #name;                   \
    return CUDA_SUCCESS;
#include "test/card/driver/Errors.def"
#undef TBEM_CARD_ERROR
    default:
      *text = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

TBEM_CARD_API cuGetErrorString(int error, const char** text) {
  switch (error) {
#define TBEM_CARD_ERROR(number, name, words) \
  case number:                               \
    *text = words;                           \
    return CUDA_SUCCESS;
#include "test/card/driver/Errors.def"
#undef TBEM_CARD_ERROR
    default:
      *text = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

namespace {

/// What functions of devices ask first.
int enterDevice(Card& card, const char* function, int device) {
  if (const int result = enter(card, function, {false})) return result;
  if (!card.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const bool isVisible = device >= 0 && static_cast<std::size_t>(device) < card.settings.visible.size();
  return isVisible ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Of a visible card, among those of the machine.
unsigned numberOf(const Card& card, int device) { return card.settings.visible[static_cast<std::size_t>(device)]; }

}  // namespace

TBEM_CARD_API cuDeviceGetCount(int* count) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGetCount", 0)) return result;
  *count = static_cast<int>(card.settings.visible.size());
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDeviceGet(int* device, int ordinal) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGet", ordinal)) return result;
  *device = ordinal;
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGetUuid_v2", device)) return result;
  std::string digits = uuidOf(numberOf(card, device)).substr(4);
  std::erase(digits, '-');
  for (std::size_t i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDeviceGetPCIBusId(char* text, int length, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGetPCIBusId", device)) return result;
  const unsigned number = numberOf(card, device);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", number + 1);
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDeviceGetName(char* name, int length, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGetName", device)) return result;
  if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
  const unsigned number = numberOf(card, device);
  const bool isOther = number >= card.settings.cards - card.settings.others;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", isOther ? "another test card" : "tbemc test card");
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDeviceGetAttribute(int* value, int attribute, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceGetAttribute", device)) return result;
  if (attributeOf(card, attribute, *value)) return CUDA_SUCCESS;
  report(card, "cuDeviceGetAttribute: attribute " + std::to_string(attribute) + " is not known to this card");
  return CUDA_ERROR_INVALID_VALUE;
}

TBEM_CARD_API cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDeviceTotalMem_v2", device)) return result;
  *bytes = card.memory.capacity();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuDevicePrimaryCtxRetain(void** context, int device) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuDevicePrimaryCtxRetain", device)) return result;
  card.retained = true;
  *context = &card;
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuCtxSetCurrent(void* context) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enterDevice(card, "cuCtxSetCurrent", 0)) return result;
  if (context != nullptr && (context != &card || !card.retained)) return CUDA_ERROR_INVALID_CONTEXT;
  currentContext() = context;
  return CUDA_SUCCESS;
}
