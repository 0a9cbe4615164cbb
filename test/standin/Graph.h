// Graphs of several operations as the stand-in's cuDNN runs them: one after the other, with every value between them in the
// workspace, where the library's engines keep few or none.
#pragma once

#include "test/standin/Cudnn.h"

#include <cstdint>

namespace tbem::standin {

/// Whether a graph is such a one: of products, reductions over the last dimension, pointwise operations and reshapes, of tensors
/// of four dimensions that lie without gaps, each operation behind those whose results it reads.
bool isGraph(const Descriptor& graph);
/// Bytes of the values between its operations.
std::int64_t workspaceOf(const Descriptor& graph);
/// Runs it.
int executeGraph(const Descriptor& graph, const Descriptor& pack, void* stream);

}  // namespace tbem::standin
