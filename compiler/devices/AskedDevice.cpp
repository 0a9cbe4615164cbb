#include "compiler/devices/AskedDevice.h"

#include "compiler/devices/CacheFile.h"
#include "compiler/diagnostics/tables/Plan.h"

#include <utility>

namespace tbem::driver {

tl::expected<AskedDevice, Failed> openAskedDevice(State& state, const std::string& name, bool pythonFirst) {
  auto device = namedDevice(*state.workspace, name);
  if (!device) return tl::unexpected(std::move(device).error());
  if (const auto properties = propertiesOf(*device); !properties) {
    const auto& own = state.workspace->program->main().own;
    const auto constant = own.find(name);
    state.sink().report(diag::device_field_missing, constant != own.end() ? constant->second->name.range : SrcRange{}, name,
                        properties.error(), "which cuDNN asks for");
    return failed(kProgramErrors);
  }
  auto source = EngineSource::open(state.options.cudnn, pythonFirst, *device, state.enginesAsked, state.events);
  if (!source) return tl::unexpected(std::move(source).error());
  if (!source->refused().empty()) state.events.note(notBelieved(source->refused()));
  return AskedDevice{std::move(*device), std::move(*source)};
}

}  // namespace tbem::driver
