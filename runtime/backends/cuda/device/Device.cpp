#include "runtime/backends/cuda/device/Device.h"

#include "runtime/backends/cuda/device/Op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::cuda {

namespace {

// Numbers of cuda.h.
constexpr int kOldestDriver = 12000;  // 1000 x major + 10 x minor of CUDA
constexpr int kOutOfMemory = 2, kStubLibrary = 34, kNoDevice = 100;
constexpr int kMultiprocessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76;  // of a device's attributes
constexpr unsigned kNonBlocking = 1;                                                // of a stream: it does not wait for others
/// Failures after which every call in the process fails: something that ran on the card went wrong.
constexpr std::array<int, 10> kLasting{214, 700, 702, 709, 710, 714, 715, 716, 718, 719};

std::string textOf(const Driver& driver, int result) {
  if (result == kStubLibrary) return "libcuda.so.1 is the toolkit's stub, which only stands for a driver";
  const char *name = nullptr, *text = nullptr;
  (void)driver.errorName(result, &name);
  (void)driver.errorText(result, &text);
  return fmt::format("{} ({}){}{}", name != nullptr ? name : "a failure without a name", result, text != nullptr ? ": " : "",
                     text != nullptr ? text : "");
}

struct Opened {
  Device device;
  std::string why;  ///< it cannot be used; "": it can
};

/// "" or why the driver cannot be used. `count`: its cards.
std::string start(const Driver& driver, int& count) {
  int version = 0;
  if (const int result = driver.driverVersion(&version); result != 0) return textOf(driver, result);
  if (version < kOldestDriver) {
    return fmt::format("the driver is for CUDA {}.{}, 12.0 or later is needed: install a newer driver", version / 1000,
                       version % 1000 / 10);
  }
  if (const int result = driver.init(0); result != 0)
    return result == kNoDevice ? "the driver finds no card" : textOf(driver, result);
  if (const int result = driver.deviceCount(&count); result != 0) return textOf(driver, result);
  return count == 0 ? "the driver finds no card" : "";
}

/// As nvidia-smi writes it: "GPU-", and the bytes in hexadecimal with hyphens behind the 4th, 6th, 8th and 10th.
std::string uuidText(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

/// Fills `card` from the driver's of that number. "" or what went wrong.
std::string describe(const Driver& driver, int number, CardFacts& card) {
  std::array<char, 128> name{};
  std::array<unsigned char, 16> uuid{};
  std::size_t memory = 0;
  int result = driver.deviceGet(&card.handle, number);
  if (result == 0) result = driver.deviceName(name.data(), static_cast<int>(name.size()) - 1, card.handle);
  if (result == 0) result = driver.deviceUuid(uuid.data(), card.handle);
  if (result == 0) result = driver.deviceAttribute(&card.major, kCapabilityMajor, card.handle);
  if (result == 0) result = driver.deviceAttribute(&card.minor, kCapabilityMinor, card.handle);
  if (result == 0) result = driver.deviceAttribute(&card.multiprocessors, kMultiprocessors, card.handle);
  if (result == 0) result = driver.deviceMemory(&memory, card.handle);
  if (result != 0) return "asking about the card: " + textOf(driver, result);
  card.name = name.data();
  card.uuid = uuidText(uuid);
  card.memory = memory;
  return "";
}

/// "" or why it is too old.
std::string checkAge(const CardFacts& card) {
  if (card.major * 10 + card.minor >= kLeastCapability) return "";
  return fmt::format("{} has compute capability {}.{}, and {}.{} or higher is needed", card.name, card.major, card.minor,
                     kLeastCapability / 10, kLeastCapability % 10);
}

Opened open() {
  Opened opened;
  const auto driver = openDriver();
  if (!driver) {
    opened.why = driver.error();
    return opened;
  }
  Device& device = opened.device;
  device.driver = *driver;
  int count = 0;
  opened.why = start(**driver, count);
  if (opened.why.empty()) opened.why = describe(**driver, 0, device);
  if (opened.why.empty()) opened.why = checkAge(device);
  if (!opened.why.empty()) return opened;
  int result = (*driver)->contextRetain(&device.context, device.handle);
  if (result == 0) result = (*driver)->contextSet(device.context);
  if (result == 0) result = (*driver)->streamCreate(&device.stream, kNonBlocking);
  if (result != 0) opened.why = fmt::format("{} cannot be opened: {}", device.name, textOf(**driver, result));
  return opened;
}

}  // namespace

tl::expected<std::vector<CardFacts>, std::string> visibleCards() {
  const auto driver = openDriver();
  if (!driver) return tl::unexpected(driver.error());
  int count = 0;
  if (std::string why = start(**driver, count); !why.empty()) return tl::unexpected(std::move(why));
  std::vector<CardFacts> cards;
  for (int number = 0; number < count; ++number) {
    CardFacts card;
    if (std::string why = describe(**driver, number, card); !why.empty()) return tl::unexpected(std::move(why));
    cards.push_back(std::move(card));
  }
  return cards;
}

tl::expected<const Device*, std::string> openDevice() {
  static const Opened kOpened = open();
  if (!kOpened.why.empty()) return tl::unexpected(kOpened.why);
  const Device& device = kOpened.device;
  thread_local bool current = false;
  if (!current) {
    if (const int result = device.driver->contextSet(device.context); result != 0)
      return tl::unexpected(fmt::format("{} cannot be used by this thread: {}", device.name, textOf(*device.driver, result)));
    current = true;
  }
  return &device;
}

tbem_status openDevice(const Device*& device) {
  const auto opened = openDevice();
  if (!opened) return fail(TBEM_UNSUPPORTED, fmt::format("cuda: {}", opened.error()));
  device = *opened;
  return TBEM_OK;
}

tbem_status check(const Device& device, int result, const char* doing) {
  if (result == 0) return TBEM_OK;
  const bool lasts = std::find(kLasting.begin(), kLasting.end(), result) != kLasting.end();
  return fail(
      result == kOutOfMemory ? TBEM_OUT_OF_MEMORY : TBEM_FAILED,
      fmt::format("cuda: {}: {}{}", doing, textOf(*device.driver, result),
                  lasts ? "; it is this or earlier work that failed on the card, which this process cannot use any more" : ""));
}

}  // namespace tbem::cuda
