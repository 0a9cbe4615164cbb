#include "runtime/cudnn/Engines.h"

#include "runtime/cudnn/Question.h"

namespace tbem::cudnn {

struct Device::Impl {
  api::Functions functions;
  std::unique_ptr<Failure> failure = std::make_unique<Failure>();  // of the descriptor below; its address stays
  std::unique_ptr<Descriptor> device;
};

Device::Device(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

tl::expected<Device, std::string> Device::make(const Library& library, const std::string& properties) {
  auto impl = std::make_unique<Impl>();
  impl->functions = library.functions;
  impl->device = std::make_unique<Descriptor>(impl->functions, *impl->failure, api::kDeviceProperties);
  const std::span<const char> text(properties.c_str(), properties.size() + 1);
  impl->device->set<char>(api::kDeviceJson, api::kChar, text);
  impl->device->finish("the device's properties");
  if (!impl->failure->ok()) return tl::unexpected(impl->failure->text);
  return Device(std::move(impl));
}

tl::expected<std::vector<Engine>, std::string> Device::engines(const Problem& problem, List list) const {
  Failure failure;
  std::vector<Engine> engines = Question(impl->functions, problem, failure).ask(impl->device.get(), list);
  if (!failure.ok()) return tl::unexpected(failure.text);
  return engines;
}

}  // namespace tbem::cudnn
