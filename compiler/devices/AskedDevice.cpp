#include "compiler/devices/AskedDevice.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/jit/glue/CacheFile.h"

#include <utility>

namespace tbem::driver {

tl::expected<DescribedDevice, Failed> describedDevice(Workspace& workspace, const std::string& name) {
  auto device = namedDevice(workspace, name);
  if (!device) return tl::unexpected(std::move(device).error());
  auto properties = propertiesOf(*device);
  if (properties) return DescribedDevice{std::move(*device), std::move(*properties)};
  const auto& own = workspace.program->main().own;
  const auto constant = own.find(name);
  workspace.session.sink.report(diag::device_field_missing, constant != own.end() ? constant->second->name.range : SrcRange{},
                                name, properties.error(), "which cuDNN asks for");
  return failed(kProgramErrors);
}

tl::expected<AskedDevice, Failed> openAskedDevice(Workspace& workspace, const DeviceQuestion& question, std::size_t& asked,
                                                  Events& events) {
  auto described = describedDevice(workspace, question.name);
  if (!described) return tl::unexpected(std::move(described).error());
  auto source = EngineSource::open(question.cudnn, question.pythonFirst, described->device, asked, events);
  if (!source) return tl::unexpected(std::move(source).error());
  if (!source->refused().empty()) events.note(notBelieved(source->refused()));
  return AskedDevice{std::move(described->device), std::move(*source)};
}

}  // namespace tbem::driver
