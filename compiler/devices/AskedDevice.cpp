#include "compiler/devices/AskedDevice.h"

#include "compiler/devices/CacheFile.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/show/Output.h"

#include <utility>

namespace tbem::driver {

tl::expected<AskedDevice, int> openAskedDevice(State& state, const std::string& name, bool pythonFirst) {
  auto device = namedDevice(*state.workspace, name);
  if (!device) {
    if (!device.error().message.empty()) printFailure(device.error().message);
    return tl::unexpected(device.error().status);
  }
  if (const auto properties = propertiesOf(*device); !properties) {
    const auto& own = state.workspace->program->main().own;
    const auto constant = own.find(name);
    state.sink().report(diag::device_field_missing, constant != own.end() ? constant->second->name.range : SrcRange{}, name,
                        properties.error(), "which cuDNN asks for");
    return tl::unexpected(static_cast<int>(kProgramErrors));
  }
  auto source = EngineSource::open(state.options.cudnn, pythonFirst, *device, state.enginesAsked);
  if (!source) {
    printFailure(source.error().message);
    return tl::unexpected(source.error().status);
  }
  if (!source->refused().empty()) printNote(state.options, notBelieved(source->refused()));
  return AskedDevice{std::move(*device), std::move(*source)};
}

}  // namespace tbem::driver
