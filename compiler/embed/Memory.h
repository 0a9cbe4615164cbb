// Memory that a step and the holders of its tensors have in common. Internal to this folder.
#pragma once

#include <cstddef>
#include <memory>

namespace tbem::embed {

/// DLPack hands memory to programs that release it when they like, in any thread: whoever is last ends it. Points to the first
/// element; what it keeps alive may be more (a whole step).
using Memory = std::shared_ptr<std::byte>;

}  // namespace tbem::embed
