// What libraries take while they compute an operator of eager PyTorch. Internal to this folder.
#pragma once

#include "compiler/pytorch/eager/EagerTape.h"

namespace tbem::estimate {

/// A matrix product of cuBLAS or cuBLASLt.
bool isProduct(const EagerOperator& op);
/// Whether the bias is added by cuBLASLt (isInputCompliesAddmmCudaLt in aten/src/ATen/native/cuda/Blas.cpp): both of the weight's
/// dimensions are more than 1.
bool hasEpilogue(const EagerOperator& op, const graph::Graph& graph, const sema::Values& values);
/// What a thread's first product took, where it is never given back.
struct KeptWorkspaces {
  bool product = false, withBias = false;
};
/// What a product takes for good. `epilogue`: as hasEpilogue says.
void keepProductWorkspaces(const ProductWorkspaces& products, KeptWorkspaces& kept, bool epilogue, EagerTape& tape);
/// What is given back behind the operator; nothing of what PyTorch keeps.
OperatorWorkspaces workspacesOf(const EagerOperator& op, const graph::Graph& graph, const sema::Values& values,
                                const EagerOptions& options);
/// What the gradient of a bias takes while it is summed over the rows of the result's gradient; `element`: bytes of one of it.
void useSumBuffers(std::uint64_t rows, std::uint64_t columns, std::uint64_t element, const SumUnits& units, EagerTape& tape);

}  // namespace tbem::estimate
